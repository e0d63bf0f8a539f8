// Original file: proto/contextd/v1/management.proto


export interface NetworkGroup {
  'name'?: (string);
  'summary'?: (string);
  'patterns'?: (string)[];
  /**
   * What a permission for the group includes on this machine besides: the registries that `ctxd network mirrors` handed in.
   */
  'mirrors'?: (string)[];
}

export interface NetworkGroup__Output {
  'name': (string);
  'summary': (string);
  'patterns': (string)[];
  /**
   * What a permission for the group includes on this machine besides: the registries that `ctxd network mirrors` handed in.
   */
  'mirrors': (string)[];
}
