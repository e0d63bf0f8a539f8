// Original file: proto/contextd/v1/host.proto


/**
 * A request in JSON; the documentation of its method describes it.
 */
export interface HostRequest {
  'call_id'?: (string);
  'json'?: (Buffer | Uint8Array | string);
}

/**
 * A request in JSON; the documentation of its method describes it.
 */
export interface HostRequest__Output {
  'call_id': (string);
  'json': (Buffer);
}
