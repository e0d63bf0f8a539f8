export { PACKAGE_VERSION } from './generated/package-version.ts';

/**
 * The protocol of proto/contextd/v1, apart from the package's own version: it grows only when an older caller would
 * be misunderstood. A caller of another version gets VERSION_MISMATCH naming both.
 */
export const PROTOCOL_VERSION = 1;
