export { PACKAGE_VERSION } from './generated/package-version.ts';

/**
 * The version of the protocol in proto/contextd/v1, independent of the package's version. It is raised only if an older
 * caller would be misunderstood. A caller with another version gets VERSION_MISMATCH, which names both.
 */
export const PROTOCOL_VERSION = 2;
