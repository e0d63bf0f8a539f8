/** Trailers of a failed rpc: the code of core/errors and, as UTF-8 bytes, the remedy. */
export const CODE_TRAILER = 'contextd-code';
export const REMEDY_TRAILER = 'contextd-remedy-bin';
/** Facts for a program, one JSON object as UTF-8 bytes: only from the daemon to a tool's process. */
export const DETAILS_TRAILER = 'contextd-details-bin';
