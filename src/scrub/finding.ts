/** A place to mask: UTF-16 offsets of the secret in the scanned text. */
export interface Finding {
  rule: string;
  start: number;
  end: number;
  /** The known value that occurs here encoded or in part. Default: the text itself is the value. */
  of?: string | undefined;
  /** The secrets encoded here, if nothing else was found here. Default: the text itself is the secret. */
  inner?: readonly string[] | undefined;
  /** Whether only the text around shows that this is a secret, such as a name before it. Default: the value itself does. */
  byPlace?: boolean | undefined;
}
