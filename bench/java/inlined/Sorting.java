import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Sorts, maps and streams of small objects. */
public final class Sorting {
    private static final class Person {
        final String name;
        final int age;
        final long id;

        Person(String name, int age, long id) {
            this.name = name;
            this.age = age;
            this.id = id;
        }

        String getName() {
            return name;
        }

        int getAge() {
            return age;
        }

        long getId() {
            return id;
        }
    }

    public static void main(String[] args) throws Exception {
        Random random = new Random(11);
        List<Person> people = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            people.add(new Person("name" + random.nextInt(900), random.nextInt(90), random.nextLong()));
        }
        Steady.run(() -> {
            List<Person> copy = new ArrayList<>(people);
            Collections.shuffle(copy, random);
            copy.sort(Comparator.comparing(Person::getName).thenComparingInt(Person::getAge)
                    .thenComparingLong(Person::getId));
            long[] ids = copy.stream().filter(p -> p.getAge() > 20).mapToLong(Person::getId).map(x -> x * 31 ^ x >>> 7)
                    .toArray();
            Arrays.sort(ids);
            TreeMap<Integer, Long> byAge = copy.stream().collect(Collectors.groupingBy(Person::getAge, TreeMap::new,
                    Collectors.summingLong(Person::getId)));
            return ids[ids.length / 2] + byAge.firstEntry().getValue();
        });
    }
}
