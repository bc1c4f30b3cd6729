import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Loans in BigDecimal, and pi in BigInteger. */
public final class Decimals {
    public static void main(String[] args) throws Exception {
        Steady.run(() -> {
            BigDecimal sum = BigDecimal.ZERO;
            for (int i = 1; i < 200; i++) {
                BigDecimal rate = new BigDecimal("0.0" + i).divide(BigDecimal.valueOf(12), MathContext.DECIMAL64);
                BigDecimal rest = BigDecimal.valueOf(100_000L + i, 2);
                for (int month = 0; month < 60; month++) {
                    BigDecimal interest = rest.multiply(rate).setScale(2, RoundingMode.HALF_EVEN);
                    rest = rest.add(interest).subtract(new BigDecimal("21.37"));
                    if (rest.signum() <= 0) {
                        break;
                    }
                }
                sum = sum.add(rest);
            }
            BigInteger q = BigInteger.ONE, r = BigInteger.ZERO, t = BigInteger.ONE;
            for (int k = 1; k < 120; k++) {
                BigInteger l = BigInteger.valueOf(2L * k + 1);
                r = q.shiftLeft(1).add(r).multiply(l);
                t = t.multiply(l);
                q = q.multiply(BigInteger.valueOf(k));
            }
            return sum.hashCode() + r.divide(t).hashCode() + sum.toString().length();
        });
    }
}
