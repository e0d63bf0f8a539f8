// Original file: proto/plugin/grpc_broker.proto

/**
 * Only with multiplexing.
 */
export interface _plugin_ConnInfo_Knock {
  'knock'?: (boolean);
  'ack'?: (boolean);
  'error'?: (string);
}

/**
 * Only with multiplexing.
 */
export interface _plugin_ConnInfo_Knock__Output {
  'knock': (boolean);
  'ack': (boolean);
  'error': (string);
}

export interface ConnInfo {
  'service_id'?: (number);
  'network'?: (string);
  'address'?: (string);
  'knock'?: (_plugin_ConnInfo_Knock | null);
}

export interface ConnInfo__Output {
  'service_id': (number);
  'network': (string);
  'address': (string);
  'knock': (_plugin_ConnInfo_Knock__Output | null);
}
