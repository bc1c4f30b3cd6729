import java.util.Random;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Lucene: conjunctions, disjunctions and phrases over an index in memory. */
public final class LuceneSearch {
    public static void main(String[] args) throws Exception {
        ByteBuffersDirectory directory = new ByteBuffersDirectory();
        Random random = new Random(7);
        Analyzer analyzer = new StandardAnalyzer();
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(analyzer))) {
            for (int i = 0; i < 30_000; i++) {
                StringBuilder text = new StringBuilder();
                for (int w = 0; w < 60; w++) {
                    text.append('w').append((int) (Math.pow(random.nextDouble(), 3) * 3000)).append(' ');
                }
                Document d = new Document();
                d.add(new TextField("text", text.toString(), Field.Store.NO));
                writer.addDocument(d);
            }
            writer.forceMerge(1);
        }
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
        Steady.run(() -> {
            long sum = 0;
            for (int i = 0; i < 20; i++) {
                sum += searcher.search(query(random), 10).scoreDocs.length;
            }
            return sum;
        });
    }

    private static Query query(Random random) {
        Term a = new Term("text", "w" + random.nextInt(200)), b = new Term("text", "w" + random.nextInt(200));
        switch (random.nextInt(3)) {
            case 0: return new PhraseQuery(3, "text", a.text(), b.text());
            case 1: return two(a, b, BooleanClause.Occur.MUST);
            default: return two(a, b, BooleanClause.Occur.SHOULD);
        }
    }

    private static Query two(Term a, Term b, BooleanClause.Occur occur) {
        return new BooleanQuery.Builder().add(new TermQuery(a), occur).add(new TermQuery(b), occur).build();
    }
}
