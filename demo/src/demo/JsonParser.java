package demo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one JSON value: objects as maps, arrays as lists, numbers as Double. */
final class JsonParser {
    private final String text;
    private int at;

    JsonParser(String text) {
        this.text = text;
    }

    Object parse() {
        skipBlanks();
        char c = text.charAt(at);
        if (c == '{') {
            return object();
        } else if (c == '[') {
            return array();
        } else if (c == '"') {
            return string();
        }
        return number();
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        while (true) {
            skipBlanks();
            if (text.charAt(at) == '}') {
                at++;
                return map;
            }
            String key = string();
            skipBlanks();
            at++; // the colon
            map.put(key, parse());
            skipBlanks();
            if (text.charAt(at) == ',') {
                at++;
            }
        }
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        at++;
        while (true) {
            skipBlanks();
            if (text.charAt(at) == ']') {
                at++;
                return list;
            }
            list.add(parse());
            skipBlanks();
            if (text.charAt(at) == ',') {
                at++;
            }
        }
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            char c = text.charAt(at);
            out.append(c == '\\' ? text.charAt(++at) : c);
        }
        at++;
        return out.toString();
    }

    private Double number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return Double.valueOf(text.substring(start, at));
    }

    private void skipBlanks() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }
}
