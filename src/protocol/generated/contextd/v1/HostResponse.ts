// Original file: proto/contextd/v1/host.proto


export interface HostResponse {
  'json'?: (Buffer | Uint8Array | string);
}

export interface HostResponse__Output {
  'json': (Buffer);
}
