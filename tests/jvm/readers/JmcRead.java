import java.io.File;

import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** Prints what JDK Mission Control's parser finds in a recording: "event count". */
public final class JmcRead {
    private JmcRead() {
    }

    public static void main(String[] args) throws Exception {
        IItemCollection events = JfrLoaderToolkit.loadEvents(new File(args[0]));

        for (IItemIterable items : events) {
            long count = 0;
            for (IItem item : items) {
                count++;
            }
            System.out.println(items.getType().getIdentifier() + " " + count);
        }
    }
}
