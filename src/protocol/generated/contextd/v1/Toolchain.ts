// Original file: proto/contextd/v1/management.proto


/**
 * Programs outside /usr that commands may read and run.
 */
export interface Toolchain {
  'name'?: (string);
  /**
   * Absolute real paths, mounted read-only.
   */
  'mounts'?: (string)[];
  /**
   * Variables that programs need to find the toolchain, such as JAVA_HOME.
   */
  'variables'?: ({[key: string]: string});
}

/**
 * Programs outside /usr that commands may read and run.
 */
export interface Toolchain__Output {
  'name': (string);
  /**
   * Absolute real paths, mounted read-only.
   */
  'mounts': (string)[];
  /**
   * Variables that programs need to find the toolchain, such as JAVA_HOME.
   */
  'variables': ({[key: string]: string});
}
