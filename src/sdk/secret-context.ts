/**
 * How much of a file is searched for secrets with a part of it that is shown. Whether a text is a secret may depend on what
 * stands around it: a private key is recognized by its first line, a value of a Kubernetes secret by a line at the end of
 * its document. A file of up to 512 KiB is searched whole, so every part of it is masked as it is in the whole. Of a longer
 * file, the text around the part is searched.
 */
export const WHOLE_BYTES = 512 * 1024;

/** Bytes on both sides of a range of a longer file. */
export const AROUND_RANGE_BYTES = 64 * 1024;

/** Characters before and after each line that grep prints of a longer file. */
export const AROUND_LINE = { before: 16 * 1024, after: 16 * 1024 };
/** The same once more than 4 Mi characters are searched. A key of 4,096 bits has 3,300. */
export const AROUND_LATER_LINE = { before: 4 * 1024, after: 1024 };
export const WIDE_MAX_CHARS = 4 * 1024 * 1024;
