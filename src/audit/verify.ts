import { type AuditReport, ChainCheck, type KeptHead, OWN_HEAD } from './check.ts';
import { chainPlaces, readHead, readKey } from './head.ts';
import { hashOf, listFalseSegments, listSegments } from './segments.ts';

/**
 * Reads the whole log and checks every line against the key. Finds lines that were changed, removed, added or moved, files that
 * are missing, and a tail that was cut; and whether it holds what `heads` say. It proves nothing against a person who has the
 * key. Throws the error of the file system, and Error if the key is unusable.
 */
export async function verifyAuditLog(dir: string, heads: readonly KeptHead[] = []): Promise<AuditReport> {
  const places = chainPlaces(dir);
  // The head is read first: a log that grows meanwhile goes beyond it.
  const key = readKey(places);
  const head = key === null ? 'missing' : readHead(places, key);
  const ownHead = typeof head === 'string' ? [] : [{ ...head, from: OWN_HEAD }];
  const check = new ChainCheck(key ?? Buffer.alloc(0), [...ownHead, ...heads]);
  const segments = await listSegments(dir);
  for (const name of await listFalseSegments(dir)) check.fault(name, 0, 'is no regular file');
  for (const segment of segments) await check.segment(segment);
  return check.report(head, key !== null, await hashOf(segments.filter(({ name }) => check.unchained.has(name))));
}

/**
 * The same for the newest segment only, which is quick on a long log: that it is whole and as it was written, and that it goes as
 * far as audit.head says.
 */
export async function verifyNewest(dir: string): Promise<AuditReport> {
  const places = chainPlaces(dir);
  const key = readKey(places);
  const head = key === null ? 'missing' : readHead(places, key);
  const check = new ChainCheck(key ?? Buffer.alloc(0), typeof head === 'string' ? [] : [{ ...head, from: OWN_HEAD }], {
    isPart: true,
  });
  for (const segment of (await listSegments(dir)).slice(-1)) await check.segment(segment);
  return check.report(head, key !== null, '');
}
