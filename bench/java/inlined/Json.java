import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Jackson: objects to text and back, bound to classes and as trees. */
public final class Json {
    public static final class Item {
        public String name;
        public int count;
        public double price;
        public boolean sold;
        public List<String> tags = new ArrayList<>();
        public Map<String, Integer> sizes = new LinkedHashMap<>();
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Item item = new Item();
            item.name = "item number " + i + (i % 9 == 0 ? " \u00e4\n" : "");
            item.count = i * 37;
            item.price = i * 1.37;
            item.sold = i % 3 == 0;
            for (int t = 0; t < 5; t++) {
                item.tags.add("tag" + (i * t) % 71);
                item.sizes.put("size" + t, i * t);
            }
            items.add(item);
        }
        byte[] text = mapper.writeValueAsBytes(items);
        Steady.run(() -> mapper.readValue(text, Item[].class).length + mapper.readTree(text).size()
                + mapper.writeValueAsBytes(items).length);
    }
}
