/** A place that must not leave: UTF-16 offsets of the secret in the scanned text. */
export interface Finding {
  rule: string;
  start: number;
  end: number;
  /** The known value that is there in another form or in part. Default: the text itself is the value. */
  of?: string | undefined;
}
