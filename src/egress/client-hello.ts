/** What the proxy needs to know of a TLS ClientHello. */
export type ClientHello =
  /** With fewer bytes than `atLeast` in all, another reading is of no use. */
  | { readonly state: 'more'; readonly atLeast: number }
  /** `why` is a clause. */
  | { readonly state: 'bad'; readonly why: string }
  /**
   * `serverName` is in lower case; null if the client named no server. `isEncrypted`: it has an encrypted part of another form
   * than the outer ClientHello of RFC 9849, whose visible name counts (decision 0079).
   */
  | { readonly state: 'whole'; readonly serverName: string | null; readonly isEncrypted: boolean };

/** Bytes within which a ClientHello must end, its record headers included. */
export const CLIENT_HELLO_MAX_BYTES = 64 * 1024;

const RECORD_HEADER_BYTES = 5;
const RECORD_MAX_BYTES = 16 * 1024;
const MESSAGE_HEADER_BYTES = 4;
const HANDSHAKE_RECORD = 0x16;
const CLIENT_HELLO = 1;
/** Version and random. */
const FIXED_BYTES = 34;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** `encrypted_client_hello` (RFC 9849). */
const ECH = 0xfe0d;
/** The extension that its drafts used before. */
const ESNI = 0xffce;
const ECH_OUTER = 0;
/** Type, cipher suite and configuration id, before the two byte strings. */
const ECH_FIXED_BYTES = 6;

/** Reads the ClientHello at the start of a TLS connection. It may be spread over records in any way. */
export function readClientHello(data: Buffer): ClientHello {
  try {
    return readMessage(data);
  } catch (cause) {
    // The only exception that reading a Buffer throws.
    if (cause instanceof RangeError) return bad('its ClientHello is malformed');
    throw cause;
  }
}

function readMessage(data: Buffer): ClientHello {
  const fragments: Buffer[] = [];
  let have = 0;
  let need: number | null = null;
  for (let at = 0; need === null || have < need; ) {
    const record = data.subarray(at);
    if (record.length > 0 && record[0] !== HANDSHAKE_RECORD) return bad('it does not speak TLS');
    if (record.length > 1 && record[1] !== 3) return bad('it does not speak TLS');
    const missing = (need ?? MESSAGE_HEADER_BYTES) - have;
    if (record.length < RECORD_HEADER_BYTES) return more(data, at + RECORD_HEADER_BYTES + missing);
    const length = record.readUInt16BE(3);
    if (length === 0 || length > RECORD_MAX_BYTES) return bad('its ClientHello is malformed');
    if (record.length < RECORD_HEADER_BYTES + length)
      return more(data, at + RECORD_HEADER_BYTES + Math.max(length, missing));
    fragments.push(record.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + length));
    at += RECORD_HEADER_BYTES + length;
    have += length;
    if (need !== null || have < MESSAGE_HEADER_BYTES) continue;
    const message = Buffer.concat(fragments);
    if (message[0] !== CLIENT_HELLO) return bad('its first TLS message is not a ClientHello');
    need = MESSAGE_HEADER_BYTES + message.readUIntBE(1, 3);
    if (need > CLIENT_HELLO_MAX_BYTES) return bad('its ClientHello is too long');
  }
  return readFields(Buffer.concat(fragments).subarray(MESSAGE_HEADER_BYTES, need));
}

function more(data: Buffer, atLeast: number): ClientHello {
  return data.length > CLIENT_HELLO_MAX_BYTES ? bad('its ClientHello is too long') : { state: 'more', atLeast };
}

function readFields(message: Buffer): ClientHello {
  const session = FIXED_BYTES + 1 + message.readUInt8(FIXED_BYTES);
  const ciphers = session + 2 + message.readUInt16BE(session);
  const compression = ciphers + 1 + message.readUInt8(ciphers);
  if (compression === message.length) return { state: 'whole', serverName: null, isEncrypted: false };
  if (compression + 2 + message.readUInt16BE(compression) !== message.length)
    return bad('its ClientHello is malformed');
  return readExtensions(message.subarray(compression + 2));
}

function readExtensions(extensions: Buffer): ClientHello {
  let serverName: string | null = null;
  let isEncrypted = false;
  const seen = new Set<number>();
  for (let at = 0; at < extensions.length; ) {
    const type = extensions.readUInt16BE(at);
    const end = at + 4 + extensions.readUInt16BE(at + 2);
    if (end > extensions.length) return bad('its ClientHello is malformed');
    if (seen.has(type)) return bad('its ClientHello has an extension twice');
    seen.add(type);
    if (type === ESNI || (type === ECH && !isOuterHello(extensions.subarray(at + 4, end)))) isEncrypted = true;
    if (type === SERVER_NAME) {
      serverName = readServerName(extensions.subarray(at + 4, end));
      if (serverName === null) return bad('its ClientHello has a malformed server name');
    }
    at = end;
  }
  return { state: 'whole', serverName, isEncrypted };
}

/** Chromium, Firefox and Bun before 1.4 send it with random content if they know no key of the server (GREASE). */
function isOuterHello(content: Buffer): boolean {
  if (content[0] !== ECH_OUTER) return false;
  const payload = ECH_FIXED_BYTES + 2 + content.readUInt16BE(ECH_FIXED_BYTES);
  const length = content.readUInt16BE(payload);
  return length > 0 && payload + 2 + length === content.length;
}

/** The one name of the list; null if the list is malformed or has several names. */
function readServerName(list: Buffer): string | null {
  const length = list.readUInt16BE(3);
  const isOneName = list.readUInt16BE(0) === list.length - 2 && list[2] === HOST_NAME && length === list.length - 5;
  return isOneName ? list.subarray(5).toString('latin1').toLowerCase() : null;
}

function bad(why: string): ClientHello {
  return { state: 'bad', why };
}
