// Original files: proto/contextd/v1/plugin.proto, proto/contextd/v1/host.proto, proto/plugin/grpc_broker.proto, proto/plugin/grpc_controller.proto, proto/plugin/grpc_stdio.proto, proto/grpc/health/v1/health.proto

export const PLUGIN_DEFINITION = `{
  "nested": {
    "contextd": {
      "nested": {
        "v1": {
          "nested": {
            "ToolPlugin": {
              "methods": {
                "Describe": {
                  "requestType": "DescribeRequest",
                  "responseType": "DescribeResponse"
                },
                "Call": {
                  "requestType": "CallRequest",
                  "responseType": "CallEvent",
                  "responseStream": true
                },
                "Cancel": {
                  "requestType": "CancelRequest",
                  "responseType": "CancelResponse"
                }
              }
            },
            "DescribeRequest": {
              "fields": {
                "host_service_id": {
                  "type": "uint32",
                  "id": 1
                },
                "protected_paths": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                }
              }
            },
            "DescribeResponse": {
              "fields": {
                "tools": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 1
                }
              }
            },
            "CallRequest": {
              "oneofs": {
                "_view_json": {
                  "oneof": [
                    "view_json"
                  ]
                }
              },
              "fields": {
                "call_id": {
                  "type": "string",
                  "id": 1
                },
                "request_id": {
                  "type": "string",
                  "id": 2
                },
                "tool": {
                  "type": "string",
                  "id": 3
                },
                "input_json": {
                  "type": "bytes",
                  "id": 4
                },
                "workspace": {
                  "type": "string",
                  "id": 5
                },
                "etag_key": {
                  "type": "string",
                  "id": 6
                },
                "timeout_ms": {
                  "type": "uint64",
                  "id": 7
                },
                "output_max_bytes": {
                  "type": "uint64",
                  "id": 8
                },
                "cwd": {
                  "type": "string",
                  "id": 9
                },
                "view_json": {
                  "type": "bytes",
                  "id": 20,
                  "options": {
                    "proto3_optional": true
                  }
                }
              }
            },
            "CallEvent": {
              "oneofs": {
                "event": {
                  "oneof": [
                    "output",
                    "failure",
                    "findings"
                  ]
                }
              },
              "fields": {
                "output": {
                  "type": "CallOutput",
                  "id": 2
                },
                "failure": {
                  "type": "Failure",
                  "id": 3
                },
                "findings": {
                  "type": "Findings",
                  "id": 4
                }
              },
              "reserved": [
                [
                  1,
                  1
                ]
              ]
            },
            "Findings": {
              "fields": {
                "leaves": {
                  "rule": "repeated",
                  "type": "LeafSpans",
                  "id": 1
                }
              }
            },
            "CallOutput": {
              "fields": {
                "data_json": {
                  "type": "bytes",
                  "id": 1
                },
                "streams": {
                  "rule": "repeated",
                  "type": "OutputStream",
                  "id": 2
                },
                "failure": {
                  "type": "Failure",
                  "id": 3
                },
                "dropped_bytes": {
                  "type": "uint64",
                  "id": 4
                },
                "warnings": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 5
                },
                "first_pass": {
                  "rule": "repeated",
                  "type": "LeafSpans",
                  "id": 6
                },
                "findings_follow": {
                  "type": "bool",
                  "id": 7
                },
                "view_applied": {
                  "type": "bool",
                  "id": 20
                }
              }
            },
            "OutputStream": {
              "oneofs": {
                "_gap": {
                  "oneof": [
                    "gap"
                  ]
                }
              },
              "fields": {
                "field": {
                  "type": "string",
                  "id": 1
                },
                "text": {
                  "type": "string",
                  "id": 2
                },
                "margin_before": {
                  "type": "uint32",
                  "id": 3
                },
                "margin_after": {
                  "type": "uint32",
                  "id": 4
                },
                "gap": {
                  "type": "OutputGap",
                  "id": 5,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "parts": {
                  "rule": "repeated",
                  "type": "ShownPart",
                  "id": 6
                }
              }
            },
            "ShownPart": {
              "fields": {
                "start": {
                  "type": "uint32",
                  "id": 1
                },
                "end": {
                  "type": "uint32",
                  "id": 2
                },
                "label": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "LeafSpans": {
              "fields": {
                "spans": {
                  "rule": "repeated",
                  "type": "SecretSpan",
                  "id": 1
                }
              }
            },
            "SecretSpan": {
              "fields": {
                "rule": {
                  "type": "string",
                  "id": 1
                },
                "start": {
                  "type": "uint32",
                  "id": 2
                },
                "end": {
                  "type": "uint32",
                  "id": 3
                }
              }
            },
            "Failure": {
              "fields": {
                "code": {
                  "type": "string",
                  "id": 1
                },
                "message": {
                  "type": "string",
                  "id": 2
                },
                "remedy": {
                  "type": "string",
                  "id": 3
                },
                "details_json": {
                  "type": "bytes",
                  "id": 4
                }
              }
            },
            "CancelRequest": {
              "fields": {
                "call_id": {
                  "type": "string",
                  "id": 1
                },
                "reason": {
                  "type": "CancelReason",
                  "id": 2
                }
              }
            },
            "CancelReason": {
              "values": {
                "CANCEL_REASON_UNSPECIFIED": 0,
                "CANCEL_REASON_TIMEOUT": 1,
                "CANCEL_REASON_CANCELLED": 2
              }
            },
            "CancelResponse": {
              "fields": {}
            },
            "ToolHost": {
              "methods": {
                "Exec": {
                  "requestType": "ExecRequest",
                  "responseType": "ExecResponse"
                },
                "Scrub": {
                  "requestType": "ScrubRequest",
                  "responseType": "ScrubResponse"
                },
                "Log": {
                  "requestType": "LogRequest",
                  "responseType": "LogResponse"
                },
                "MemorySearch": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "MemoryStore": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "CheckpointSave": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "CheckpointRestore": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "ArtifactView": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "JobStart": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "Jobs": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "MemoryGet": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "MemoryFeedback": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "CheckpointList": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "BranchOpen": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "BranchReturn": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                },
                "SessionInit": {
                  "requestType": "HostRequest",
                  "responseType": "HostResponse"
                }
              }
            },
            "ExecRequest": {
              "oneofs": {
                "_stdin": {
                  "oneof": [
                    "stdin"
                  ]
                }
              },
              "fields": {
                "call_id": {
                  "type": "string",
                  "id": 1
                },
                "command": {
                  "type": "string",
                  "id": 2
                },
                "cwd": {
                  "type": "string",
                  "id": 3
                },
                "env": {
                  "keyType": "string",
                  "type": "string",
                  "id": 4
                },
                "stdin": {
                  "type": "bytes",
                  "id": 5,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "own_loopback": {
                  "type": "bool",
                  "id": 10
                },
                "tty": {
                  "type": "bool",
                  "id": 11
                }
              }
            },
            "ExecResponse": {
              "oneofs": {
                "_exit_code": {
                  "oneof": [
                    "exit_code"
                  ]
                },
                "_stdout_gap": {
                  "oneof": [
                    "stdout_gap"
                  ]
                },
                "_stderr_gap": {
                  "oneof": [
                    "stderr_gap"
                  ]
                }
              },
              "fields": {
                "exit_code": {
                  "type": "int32",
                  "id": 1,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "signal": {
                  "type": "string",
                  "id": 2
                },
                "ended_by": {
                  "type": "string",
                  "id": 3
                },
                "stdout": {
                  "type": "string",
                  "id": 4
                },
                "stderr": {
                  "type": "string",
                  "id": 5
                },
                "dropped_bytes": {
                  "type": "uint64",
                  "id": 6
                },
                "duration_ms": {
                  "type": "uint64",
                  "id": 7
                },
                "encoding_replaced": {
                  "type": "bool",
                  "id": 8
                },
                "stdout_gap": {
                  "type": "OutputGap",
                  "id": 20,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "stderr_gap": {
                  "type": "OutputGap",
                  "id": 21,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "stdout_encoding": {
                  "type": "string",
                  "id": 22
                },
                "stderr_encoding": {
                  "type": "string",
                  "id": 23
                },
                "doing": {
                  "type": "string",
                  "id": 24
                },
                "doing_text": {
                  "type": "string",
                  "id": 25
                }
              }
            },
            "OutputGap": {
              "fields": {
                "start": {
                  "type": "uint32",
                  "id": 1
                },
                "end": {
                  "type": "uint32",
                  "id": 2
                },
                "bytes": {
                  "type": "uint64",
                  "id": 3
                },
                "first_line": {
                  "type": "uint64",
                  "id": 4
                },
                "last_line": {
                  "type": "uint64",
                  "id": 5
                },
                "next_line": {
                  "type": "uint64",
                  "id": 6
                }
              }
            },
            "ScrubRequest": {
              "fields": {
                "call_id": {
                  "type": "string",
                  "id": 1
                },
                "texts": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                }
              }
            },
            "ScrubResponse": {
              "fields": {
                "texts": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 1
                }
              }
            },
            "LogRequest": {
              "fields": {
                "call_id": {
                  "type": "string",
                  "id": 1
                },
                "level": {
                  "type": "string",
                  "id": 2
                },
                "message": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "LogResponse": {
              "fields": {}
            },
            "HostRequest": {
              "fields": {
                "call_id": {
                  "type": "string",
                  "id": 1
                },
                "json": {
                  "type": "bytes",
                  "id": 2
                }
              }
            },
            "HostResponse": {
              "fields": {
                "json": {
                  "type": "bytes",
                  "id": 1
                }
              }
            }
          }
        }
      }
    },
    "plugin": {
      "nested": {
        "GRPCBroker": {
          "methods": {
            "StartStream": {
              "requestType": "ConnInfo",
              "requestStream": true,
              "responseType": "ConnInfo",
              "responseStream": true
            }
          }
        },
        "ConnInfo": {
          "fields": {
            "service_id": {
              "type": "uint32",
              "id": 1
            },
            "network": {
              "type": "string",
              "id": 2
            },
            "address": {
              "type": "string",
              "id": 3
            },
            "knock": {
              "type": "Knock",
              "id": 4
            }
          },
          "nested": {
            "Knock": {
              "fields": {
                "knock": {
                  "type": "bool",
                  "id": 1
                },
                "ack": {
                  "type": "bool",
                  "id": 2
                },
                "error": {
                  "type": "string",
                  "id": 3
                }
              }
            }
          }
        },
        "GRPCController": {
          "methods": {
            "Shutdown": {
              "requestType": "Empty",
              "responseType": "Empty"
            }
          }
        },
        "Empty": {
          "fields": {}
        },
        "GRPCStdio": {
          "methods": {
            "StreamStdio": {
              "requestType": "google.protobuf.Empty",
              "responseType": "StdioData",
              "responseStream": true
            }
          }
        },
        "StdioData": {
          "fields": {
            "channel": {
              "type": "Channel",
              "id": 1
            },
            "data": {
              "type": "bytes",
              "id": 2
            }
          },
          "nested": {
            "Channel": {
              "values": {
                "INVALID": 0,
                "STDOUT": 1,
                "STDERR": 2
              }
            }
          }
        }
      }
    },
    "google": {
      "nested": {
        "protobuf": {
          "nested": {
            "Empty": {
              "fields": {}
            }
          }
        }
      }
    },
    "grpc": {
      "nested": {
        "health": {
          "nested": {
            "v1": {
              "nested": {
                "Health": {
                  "methods": {
                    "Check": {
                      "requestType": "HealthCheckRequest",
                      "responseType": "HealthCheckResponse"
                    },
                    "Watch": {
                      "requestType": "HealthCheckRequest",
                      "responseType": "HealthCheckResponse",
                      "responseStream": true
                    }
                  }
                },
                "HealthCheckRequest": {
                  "fields": {
                    "service": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "HealthCheckResponse": {
                  "fields": {
                    "status": {
                      "type": "ServingStatus",
                      "id": 1
                    }
                  },
                  "nested": {
                    "ServingStatus": {
                      "values": {
                        "UNKNOWN": 0,
                        "SERVING": 1,
                        "NOT_SERVING": 2,
                        "SERVICE_UNKNOWN": 3
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}`;
