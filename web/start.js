/* start.js - opens the page: what is packed is unpacked, then the page's code runs with the data.
 *
 * The code is a file of gzip in base64, and so is a member of the data that is {"gzip": …}; other bytes are plain base64.
 */
const bytesOf = (base64) => {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

const inflated = (base64) => new Response(new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream('gzip')));

/* VALUE with bytes in the place of what is packed. */
async function unpacked(value) {
  if (!value || typeof value !== 'object' || Array.isArray(value)) return value;
  if (typeof value.gzip === 'string') return new Uint8Array(await inflated(value.gzip).arrayBuffer());
  for (const key of Object.keys(value)) value[key] = await unpacked(value[key]);
  return value;
}

function sorry(text) {
  const nothing = document.createElement('p');
  nothing.className = 'nothing';
  nothing.textContent = text;
  document.body.append(nothing);
}

async function start() {
  if (typeof DecompressionStream === 'undefined') {
    sorry('This page needs a newer browser: Chrome or Edge from 80 on, Firefox from 113 on, Safari from 16.4 on.');
    return;
  }
  const profiles = [].concat(JSON.parse(document.getElementById('data').textContent)); /* one of each event */
  for (let i = 0; i < profiles.length; i++) profiles[i] = await unpacked(profiles[i]);
  const script = document.createElement('script');
  const [code, more] = await Promise.all(['code', 'more'].map((id) => document.getElementById(id)).map((e) => (e ? inflated(e.textContent).text() : '')));
  script.textContent = code.replace("'more';", () => more);
  document.body.append(script); /* runs at once */
  script.remove();
  window.jstrobePage(profiles, bytesOf);
}

start().catch((error) => {
  sorry('This page is damaged, or was cut off: ' + error.message);
  throw error;
});
