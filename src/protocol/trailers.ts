/** Trailers of a failed rpc: the error code and, as UTF-8 bytes, the remedy. */
export const CODE_TRAILER = 'contextd-code';
export const REMEDY_TRAILER = 'contextd-remedy-bin';
/** Details for programs: one JSON object as UTF-8 bytes. Sent only from the daemon to a tool's process. */
export const DETAILS_TRAILER = 'contextd-details-bin';
