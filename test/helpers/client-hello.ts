/** A ClientHello, built field by field so that each can be wrong. */
export interface HelloShape {
  /** Each entry is one `server_name` extension. */
  serverNames?: readonly string[];
  /** The raw content of a `server_name` extension instead. */
  rawServerName?: Buffer;
  isEncrypted?: boolean;
  /** Further extensions: type and content. */
  extensions?: readonly (readonly [number, Buffer])[];
}

export function clientHello(shape: HelloShape): Buffer {
  const names = (shape.serverNames ?? []).map((name) => extension(0, serverNameList(name)));
  const raw = shape.rawServerName === undefined ? [] : [extension(0, shape.rawServerName)];
  const encrypted = shape.isEncrypted === true ? [extension(0xfe0d, Buffer.from([1]))] : [];
  const others = (shape.extensions ?? [[16, Buffer.from('\x00\x09\x08http/1.1', 'latin1')]]).map(([type, content]) =>
    extension(type, content),
  );
  const extensions = Buffer.concat([...names, ...raw, ...encrypted, ...others]);
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([4, 1, 2, 3, 4]),
    Buffer.from([0, 4, 0x13, 0x01, 0x13, 0x02]),
    Buffer.from([1, 0]),
    u16(extensions.length),
    extensions,
  ]);
  return Buffer.concat([Buffer.from([1, body.length >> 16, (body.length >> 8) & 255, body.length & 255]), body]);
}

/** The message in records of at most `recordBytes`. */
export function inRecords(message: Buffer, recordBytes = 16_000): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytes) {
    const fragment = message.subarray(at, at + recordBytes);
    records.push(Buffer.from([0x16, 3, 1]), u16(fragment.length), fragment);
  }
  return Buffer.concat(records);
}

/** The content of an outer `encrypted_client_hello`, as a client without a key of the server makes it (GREASE). */
export function outerEch(encoded = Buffer.alloc(32, 5), payload = Buffer.alloc(144, 6)): Buffer {
  const suite = Buffer.from([0, 0, 1, 0, 1, 77]);
  return Buffer.concat([suite, u16(encoded.length), encoded, u16(payload.length), payload]);
}

export function serverNameList(name: string): Buffer {
  const bytes = Buffer.from(name, 'latin1');
  return Buffer.concat([u16(bytes.length + 3), Buffer.from([0]), u16(bytes.length), bytes]);
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([u16(type), u16(content.length), content]);
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}
