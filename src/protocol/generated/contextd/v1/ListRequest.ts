// Original file: proto/contextd/v1/management.proto


export interface ListRequest {
  /**
   * Empty means the core tools; otherwise the tools accepted for this project.
   */
  'root'?: (string);
  /**
   * The tools that `ctxd init` would set the project up with: the core tools of this installation, and those installed in the
   * project. The project need not be registered.
   */
  'offered'?: (boolean);
}

export interface ListRequest__Output {
  /**
   * Empty means the core tools; otherwise the tools accepted for this project.
   */
  'root': (string);
  /**
   * The tools that `ctxd init` would set the project up with: the core tools of this installation, and those installed in the
   * project. The project need not be registered.
   */
  'offered': (boolean);
}
