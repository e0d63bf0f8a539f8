import { resourceHash8 } from '#src/gateway/ids/shape-hash.js';

/** Two URIs whose hashes begin with the same digits, so that resources of the same name have the same id. */
export function collidingUris(): [string, string] {
  const known = new Map<string, string>();
  for (let index = 0; ; index++) {
    const uri = `docs://page/${index}`;
    const hash = resourceHash8(uri);
    const other = known.get(hash);
    if (other !== undefined) return [other, uri];
    known.set(hash, uri);
  }
}
