/* What the page's code finds around it, for TypeScript's check (tests/check/test_types.py). */
declare const PROFILES: any[];

interface Window {
  jstrobe: any;
  jstrobePage(profiles: any[], bytesOf: (base64: string) => Uint8Array): void;
}

interface Element {
  readonly dataset: DOMStringMap;
}
