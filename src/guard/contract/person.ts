/** The person who works in the workspace outside contextd. */
export interface Person {
  /** The directory that `~` expands to. */
  readonly home: string;
  /** git configurations of this person, read in addition to a repository's own. */
  readonly gitConfigs: readonly string[];
}
