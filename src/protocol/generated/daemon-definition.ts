// Original files: proto/contextd/v1/tool.proto, proto/contextd/v1/management.proto

export const DAEMON_DEFINITION = `{
  "nested": {
    "contextd": {
      "nested": {
        "v1": {
          "nested": {
            "ToolService": {
              "methods": {
                "Execute": {
                  "requestType": "ExecuteRequest",
                  "responseType": "ExecuteResponse"
                },
                "ExecuteWithProgress": {
                  "requestType": "ExecuteRequest",
                  "responseType": "ExecuteEvent",
                  "responseStream": true
                },
                "GetSchema": {
                  "requestType": "SchemaRequest",
                  "responseType": "SchemaResponse"
                },
                "WatchTools": {
                  "requestType": "WatchToolsRequest",
                  "responseType": "CallableTools"
                },
                "ReportRefusal": {
                  "requestType": "RefusalReport",
                  "responseType": "RefusalReceipt"
                },
                "FollowServers": {
                  "requestType": "FollowRequest",
                  "responseType": "PassedEvent",
                  "responseStream": true
                },
                "Pass": {
                  "requestType": "PassedRequest",
                  "responseType": "PassedEvent",
                  "responseStream": true
                },
                "AnswerQuestion": {
                  "requestType": "QuestionAnswer",
                  "responseType": "QuestionReceipt"
                },
                "AnswerHook": {
                  "requestType": "ClientHookRequest",
                  "responseType": "ClientHookAnswer"
                }
              }
            },
            "ExecuteRequest": {
              "fields": {
                "tool": {
                  "type": "string",
                  "id": 1
                },
                "input_json": {
                  "type": "bytes",
                  "id": 2
                },
                "context": {
                  "type": "CallContext",
                  "id": 3
                },
                "form": {
                  "type": "CallForm",
                  "id": 4
                },
                "cwd": {
                  "type": "string",
                  "id": 5
                },
                "input_text": {
                  "type": "bytes",
                  "id": 6
                },
                "is_merged": {
                  "type": "bool",
                  "id": 7
                },
                "is_asked_again": {
                  "type": "bool",
                  "id": 8
                },
                "whole_text": {
                  "type": "string",
                  "id": 9
                }
              }
            },
            "CallForm": {
              "values": {
                "CALL_FORM_JSON": 0,
                "CALL_FORM_TEXT": 1,
                "CALL_FORM_CONTENT": 2
              }
            },
            "CallContext": {
              "fields": {
                "request_id": {
                  "type": "string",
                  "id": 1
                },
                "project_root": {
                  "type": "string",
                  "id": 2
                },
                "session_id": {
                  "type": "string",
                  "id": 3
                },
                "protocol_version": {
                  "type": "uint32",
                  "id": 4
                },
                "branch": {
                  "type": "string",
                  "id": 5
                },
                "door": {
                  "type": "CallDoor",
                  "id": 6
                },
                "surface": {
                  "type": "string",
                  "id": 8
                }
              },
              "reserved": [
                [
                  7,
                  7
                ]
              ]
            },
            "CallDoor": {
              "values": {
                "CALL_DOOR_OWN": 0,
                "CALL_DOOR_MCP": 1,
                "CALL_DOOR_SHELL": 2
              }
            },
            "ExecuteResponse": {
              "fields": {
                "envelope_json": {
                  "type": "bytes",
                  "id": 1
                },
                "exit_code": {
                  "type": "uint32",
                  "id": 2
                },
                "error_line": {
                  "type": "string",
                  "id": 3
                },
                "text_stdout": {
                  "type": "bytes",
                  "id": 4
                },
                "text_stderr": {
                  "type": "bytes",
                  "id": 5
                },
                "directory": {
                  "type": "string",
                  "id": 6
                }
              }
            },
            "ExecuteEvent": {
              "oneofs": {
                "event": {
                  "oneof": [
                    "progress",
                    "answer"
                  ]
                }
              },
              "fields": {
                "progress": {
                  "type": "Progress",
                  "id": 1
                },
                "answer": {
                  "type": "ExecuteResponse",
                  "id": 2
                }
              }
            },
            "Progress": {
              "fields": {
                "text": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "RefusalReport": {
              "fields": {
                "call": {
                  "type": "ExecuteRequest",
                  "id": 1
                },
                "error_code": {
                  "type": "string",
                  "id": 2
                },
                "message": {
                  "type": "string",
                  "id": 3
                },
                "remedy": {
                  "type": "string",
                  "id": 4
                },
                "details_json": {
                  "type": "bytes",
                  "id": 5
                }
              }
            },
            "RefusalReceipt": {
              "fields": {}
            },
            "SchemaRequest": {
              "fields": {
                "tool": {
                  "type": "string",
                  "id": 1
                },
                "context": {
                  "type": "CallContext",
                  "id": 2
                }
              }
            },
            "SchemaResponse": {
              "fields": {
                "schema_json": {
                  "type": "string",
                  "id": 1
                },
                "tool_md": {
                  "type": "string",
                  "id": 2
                },
                "tool_extended_md": {
                  "type": "string",
                  "id": 3
                },
                "bundle_sha256": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "WatchToolsRequest": {
              "fields": {
                "context": {
                  "type": "CallContext",
                  "id": 1
                },
                "known_version": {
                  "type": "string",
                  "id": 2
                },
                "surface": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "CallableTools": {
              "fields": {
                "tools": {
                  "rule": "repeated",
                  "type": "CallableTool",
                  "id": 1
                },
                "version": {
                  "type": "string",
                  "id": 2
                },
                "surface": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "CallableTool": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "purpose": {
                  "type": "string",
                  "id": 2
                },
                "schema_json": {
                  "type": "string",
                  "id": 3
                },
                "tool_id": {
                  "type": "string",
                  "id": 4
                },
                "definition_json": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "FollowRequest": {
              "fields": {
                "context": {
                  "type": "CallContext",
                  "id": 1
                },
                "earlier": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "PassedRequest": {
              "fields": {
                "context": {
                  "type": "CallContext",
                  "id": 1
                },
                "client": {
                  "type": "string",
                  "id": 2
                },
                "is_legacy": {
                  "type": "bool",
                  "id": 3
                },
                "capabilities_json": {
                  "type": "bytes",
                  "id": 4
                },
                "message_json": {
                  "type": "bytes",
                  "id": 5
                },
                "tool_id": {
                  "type": "string",
                  "id": 6
                }
              }
            },
            "PassedEvent": {
              "oneofs": {
                "event": {
                  "oneof": [
                    "client",
                    "notice_json",
                    "question",
                    "withdrawn",
                    "result_json",
                    "error_json",
                    "is_unknown_client"
                  ]
                }
              },
              "fields": {
                "client": {
                  "type": "string",
                  "id": 1
                },
                "notice_json": {
                  "type": "bytes",
                  "id": 2
                },
                "question": {
                  "type": "PassedQuestion",
                  "id": 3
                },
                "withdrawn": {
                  "type": "string",
                  "id": 4
                },
                "result_json": {
                  "type": "bytes",
                  "id": 5
                },
                "error_json": {
                  "type": "bytes",
                  "id": 6
                },
                "is_unknown_client": {
                  "type": "bool",
                  "id": 7
                }
              }
            },
            "PassedQuestion": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "message_json": {
                  "type": "bytes",
                  "id": 2
                }
              }
            },
            "QuestionAnswer": {
              "fields": {
                "context": {
                  "type": "CallContext",
                  "id": 1
                },
                "id": {
                  "type": "string",
                  "id": 2
                },
                "result_json": {
                  "type": "bytes",
                  "id": 3
                },
                "error_json": {
                  "type": "bytes",
                  "id": 4
                }
              }
            },
            "QuestionReceipt": {
              "fields": {}
            },
            "ClientHookRequest": {
              "fields": {
                "context": {
                  "type": "CallContext",
                  "id": 1
                },
                "event_json": {
                  "type": "bytes",
                  "id": 2
                }
              }
            },
            "ClientHookAnswer": {
              "fields": {
                "output_json": {
                  "type": "bytes",
                  "id": 1
                }
              }
            },
            "ManagementService": {
              "methods": {
                "ServerStatus": {
                  "requestType": "StatusRequest",
                  "responseType": "StatusResponse"
                },
                "StopServer": {
                  "requestType": "StopRequest",
                  "responseType": "StopResponse"
                },
                "RestartServer": {
                  "requestType": "RestartRequest",
                  "responseType": "RestartResponse"
                },
                "RegisterProject": {
                  "requestType": "ProjectRequest",
                  "responseType": "ProjectResponse"
                },
                "UnregisterProject": {
                  "requestType": "ProjectRequest",
                  "responseType": "ProjectResponse"
                },
                "ListTools": {
                  "requestType": "ListRequest",
                  "responseType": "ListResponse"
                },
                "InstallTool": {
                  "requestType": "InstallRequest",
                  "responseType": "InstallEvent",
                  "responseStream": true
                },
                "AcceptTool": {
                  "requestType": "AcceptToolRequest",
                  "responseType": "ProjectTools"
                },
                "RollbackTool": {
                  "requestType": "RollbackToolRequest",
                  "responseType": "ProjectTools"
                },
                "RemoveTool": {
                  "requestType": "ToolRequest",
                  "responseType": "ProjectTools"
                },
                "RecordSettings": {
                  "requestType": "RecordSettingsRequest",
                  "responseType": "RecordedSettings"
                },
                "TailAudit": {
                  "requestType": "AuditRequest",
                  "responseType": "AuditResponse"
                },
                "CopyState": {
                  "requestType": "CopyStateRequest",
                  "responseType": "StateCopy"
                },
                "CheckHealth": {
                  "requestType": "HealthRequest",
                  "responseType": "HealthResponse"
                },
                "SessionSecrets": {
                  "requestType": "SessionRequest",
                  "responseType": "SessionSecretsResponse"
                },
                "RevealSecret": {
                  "requestType": "SecretRequest",
                  "responseType": "RevealedSecret"
                },
                "AllowValue": {
                  "requestType": "AllowValueRequest",
                  "responseType": "AllowedValues"
                },
                "DisallowValue": {
                  "requestType": "DisallowValueRequest",
                  "responseType": "AllowedValues"
                },
                "ListAllowedValues": {
                  "requestType": "ProjectRequest",
                  "responseType": "AllowedValues"
                },
                "ListSessions": {
                  "requestType": "ProjectRequest",
                  "responseType": "SessionList"
                },
                "ReadSession": {
                  "requestType": "SessionEventsRequest",
                  "responseType": "SessionEvents"
                },
                "InspectSession": {
                  "requestType": "SessionContextRequest",
                  "responseType": "SessionContext"
                },
                "ReplaySession": {
                  "requestType": "SessionRequest",
                  "responseType": "SessionReplay"
                },
                "EndSession": {
                  "requestType": "SessionRequest",
                  "responseType": "EndSessionResponse"
                },
                "ListCaches": {
                  "requestType": "CachesRequest",
                  "responseType": "CachesResponse"
                },
                "ClearCaches": {
                  "requestType": "CachesRequest",
                  "responseType": "CachesResponse"
                },
                "ListRunning": {
                  "requestType": "RunningRequest",
                  "responseType": "RunningResponse"
                },
                "KillRunning": {
                  "requestType": "KillRequest",
                  "responseType": "RunningResponse"
                },
                "Stats": {
                  "requestType": "StatsRequest",
                  "responseType": "StatsResponse"
                },
                "ReviewRules": {
                  "requestType": "ProjectRequest",
                  "responseType": "RulesReview"
                },
                "ApproveRules": {
                  "requestType": "ApproveRulesRequest",
                  "responseType": "RulesReview"
                },
                "RevokeRules": {
                  "requestType": "ProjectRequest",
                  "responseType": "RulesReview"
                },
                "ListQuarantine": {
                  "requestType": "QuarantineRequest",
                  "responseType": "QuarantineResponse"
                },
                "RestoreQuarantined": {
                  "requestType": "QuarantineRequest",
                  "responseType": "QuarantineResponse"
                },
                "RemoveQuarantined": {
                  "requestType": "QuarantineRequest",
                  "responseType": "QuarantineResponse"
                },
                "AcceptQuarantined": {
                  "requestType": "AcceptQuarantinedRequest",
                  "responseType": "QuarantineResponse"
                },
                "RevokeAccepted": {
                  "requestType": "QuarantineRequest",
                  "responseType": "QuarantineResponse"
                },
                "SetToolchains": {
                  "requestType": "ToolchainList",
                  "responseType": "ToolchainList"
                },
                "ListToolchains": {
                  "requestType": "ToolchainRequest",
                  "responseType": "ToolchainList"
                },
                "SetHostNetwork": {
                  "requestType": "HostNetwork",
                  "responseType": "HostNetwork"
                },
                "ReadHostNetwork": {
                  "requestType": "HostNetworkRequest",
                  "responseType": "HostNetwork"
                },
                "AllowPath": {
                  "requestType": "PathRequest",
                  "responseType": "PathList"
                },
                "DisallowPath": {
                  "requestType": "PathRequest",
                  "responseType": "PathList"
                },
                "ListPaths": {
                  "requestType": "ProjectRequest",
                  "responseType": "PathList"
                },
                "ReadCatalogue": {
                  "requestType": "ProjectRequest",
                  "responseType": "CatalogueResponse"
                },
                "ListPorts": {
                  "requestType": "ProjectRequest",
                  "responseType": "PortsResponse"
                },
                "OpenPort": {
                  "requestType": "OpenPortRequest",
                  "responseType": "OpenPortResponse"
                },
                "ChangeNetwork": {
                  "requestType": "NetworkChange",
                  "responseType": "NetworkState"
                },
                "ListNetwork": {
                  "requestType": "NetworkRequest",
                  "responseType": "NetworkState"
                },
                "ListNetworkGroups": {
                  "requestType": "NetworkGroupsRequest",
                  "responseType": "NetworkGroups"
                },
                "ReadNetworkLog": {
                  "requestType": "NetworkLogRequest",
                  "responseType": "NetworkLogResponse"
                },
                "SetNetworkCredential": {
                  "requestType": "NetworkCredentialChange",
                  "responseType": "NetworkCredentials"
                },
                "RemoveNetworkCredentials": {
                  "requestType": "NetworkCredentialRemoval",
                  "responseType": "NetworkCredentials"
                },
                "ListNetworkCredentials": {
                  "requestType": "NetworkRequest",
                  "responseType": "NetworkCredentials"
                },
                "SearchMemories": {
                  "requestType": "MemoryQuery",
                  "responseType": "MemoryList"
                },
                "ListMemories": {
                  "requestType": "MemoryListRequest",
                  "responseType": "MemoryList"
                },
                "GetMemories": {
                  "requestType": "MemoryRequest",
                  "responseType": "MemoryList"
                },
                "AddMemories": {
                  "requestType": "NewMemories",
                  "responseType": "AddedMemories"
                },
                "RateMemory": {
                  "requestType": "MemoryRating",
                  "responseType": "MemoryEvidence"
                },
                "ForgetMemories": {
                  "requestType": "MemoryRequest",
                  "responseType": "MemoryList"
                },
                "PromoteMemory": {
                  "requestType": "MemoryRequest",
                  "responseType": "MemoryList"
                },
                "ReportMemories": {
                  "requestType": "MemoryRequest",
                  "responseType": "MemoryReport"
                },
                "LearnFromCalls": {
                  "requestType": "LearnRequest",
                  "responseType": "PendingLessons"
                },
                "ListLessons": {
                  "requestType": "ProjectRequest",
                  "responseType": "PendingLessons"
                },
                "ListBranches": {
                  "requestType": "ProjectRequest",
                  "responseType": "BranchList"
                },
                "PlanBranchFiles": {
                  "requestType": "BranchFilesRequest",
                  "responseType": "BranchFilesPlan"
                },
                "EndBranchFiles": {
                  "requestType": "BranchFilesRequest",
                  "responseType": "BranchFilesPlan"
                },
                "SyncMemories": {
                  "requestType": "MemorySyncRequest",
                  "responseType": "MemorySync"
                },
                "TakeHook": {
                  "requestType": "HookReport",
                  "responseType": "HookAnswer"
                },
                "ListUndo": {
                  "requestType": "ProjectRequest",
                  "responseType": "UndoCalls"
                },
                "PlanUndo": {
                  "requestType": "UndoRequest",
                  "responseType": "UndoPlan"
                },
                "UndoChanges": {
                  "requestType": "UndoRequest",
                  "responseType": "UndoPlan"
                },
                "SaveCheckpoint": {
                  "requestType": "NewCheckpoint",
                  "responseType": "CheckpointItem"
                },
                "ListCheckpoints": {
                  "requestType": "CheckpointRequest",
                  "responseType": "CheckpointList"
                },
                "ReadCheckpoint": {
                  "requestType": "CheckpointRequest",
                  "responseType": "CheckpointText"
                },
                "ExportCheckpoint": {
                  "requestType": "CheckpointRequest",
                  "responseType": "CheckpointText"
                },
                "ImportCheckpoint": {
                  "requestType": "ImportedCheckpoint",
                  "responseType": "CheckpointItem"
                },
                "HttpStatus": {
                  "requestType": "HttpChallenge",
                  "responseType": "HttpStanding"
                },
                "MakeHttpToken": {
                  "requestType": "NewHttpToken",
                  "responseType": "MadeHttpToken"
                },
                "ListHttpTokens": {
                  "requestType": "HttpTokensRequest",
                  "responseType": "HttpTokenList"
                },
                "RevokeHttpToken": {
                  "requestType": "HttpTokenRequest",
                  "responseType": "HttpTokenList"
                },
                "ListApprovals": {
                  "requestType": "ApprovalRequest",
                  "responseType": "ApprovalList"
                },
                "AnswerApproval": {
                  "requestType": "ApprovalAnswer",
                  "responseType": "AnsweredApproval"
                },
                "ListApprovalAnswers": {
                  "requestType": "ApprovalRequest",
                  "responseType": "ApprovalAnswerList"
                },
                "RemoveApprovalAnswer": {
                  "requestType": "ApprovalRequest",
                  "responseType": "ApprovalAnswerList"
                },
                "AddApprovalRule": {
                  "requestType": "NewApprovalRule",
                  "responseType": "ApprovalRuleList"
                },
                "ListApprovalRules": {
                  "requestType": "ApprovalRequest",
                  "responseType": "ApprovalRuleList"
                },
                "RemoveApprovalRule": {
                  "requestType": "ApprovalRequest",
                  "responseType": "ApprovalRuleList"
                },
                "AddUpstream": {
                  "requestType": "NewUpstream",
                  "responseType": "UpstreamList"
                },
                "ListUpstreams": {
                  "requestType": "UpstreamRequest",
                  "responseType": "UpstreamList"
                },
                "RemoveUpstream": {
                  "requestType": "UpstreamRequest",
                  "responseType": "UpstreamList"
                },
                "RestartUpstream": {
                  "requestType": "UpstreamRequest",
                  "responseType": "UpstreamList"
                },
                "ReviewUpstream": {
                  "requestType": "UpstreamRequest",
                  "responseType": "UpstreamReview"
                },
                "ApproveUpstream": {
                  "requestType": "UpstreamApproval",
                  "responseType": "UpstreamReview"
                }
              }
            },
            "StatusRequest": {
              "fields": {}
            },
            "StatusResponse": {
              "fields": {
                "pid": {
                  "type": "uint32",
                  "id": 1
                },
                "version": {
                  "type": "string",
                  "id": 2
                },
                "uptime_ms": {
                  "type": "uint64",
                  "id": 3
                },
                "socket": {
                  "type": "string",
                  "id": 4
                },
                "calls": {
                  "type": "uint64",
                  "id": 5
                },
                "active_calls": {
                  "type": "uint32",
                  "id": 6
                },
                "projects": {
                  "type": "uint32",
                  "id": 7
                },
                "resident_bytes": {
                  "type": "uint64",
                  "id": 8
                },
                "protocol_version": {
                  "type": "uint32",
                  "id": 9
                },
                "isolation": {
                  "type": "string",
                  "id": 10
                },
                "sandbox": {
                  "type": "SandboxStatus",
                  "id": 11
                },
                "bad_links": {
                  "rule": "repeated",
                  "type": "BadLink",
                  "id": 12
                },
                "steps": {
                  "rule": "repeated",
                  "type": "StepLatency",
                  "id": 13
                }
              }
            },
            "StepLatency": {
              "fields": {
                "step": {
                  "type": "string",
                  "id": 1
                },
                "count": {
                  "type": "uint64",
                  "id": 2
                },
                "sum_us": {
                  "type": "double",
                  "id": 3
                },
                "bounds_us": {
                  "rule": "repeated",
                  "type": "uint64",
                  "id": 4
                },
                "counts": {
                  "rule": "repeated",
                  "type": "uint64",
                  "id": 5
                }
              }
            },
            "BadLink": {
              "fields": {
                "path": {
                  "type": "string",
                  "id": 1
                },
                "found": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "SandboxStatus": {
              "fields": {
                "spawner_pid": {
                  "type": "uint32",
                  "id": 1
                },
                "spawner_resident_bytes": {
                  "type": "uint64",
                  "id": 2
                },
                "running": {
                  "type": "uint32",
                  "id": 3
                },
                "processes": {
                  "type": "uint32",
                  "id": 4
                },
                "ready": {
                  "rule": "repeated",
                  "type": "ReadySandboxes",
                  "id": 5
                },
                "ready_max": {
                  "type": "uint32",
                  "id": 6
                },
                "totals": {
                  "type": "SandboxTotals",
                  "id": 7
                },
                "ready_used": {
                  "type": "uint64",
                  "id": 8
                }
              }
            },
            "ReadySandboxes": {
              "fields": {
                "project": {
                  "type": "string",
                  "id": 1
                },
                "count": {
                  "type": "uint32",
                  "id": 2
                }
              }
            },
            "SandboxTotals": {
              "fields": {
                "memory_bytes": {
                  "type": "uint64",
                  "id": 1
                },
                "memory_max_bytes": {
                  "type": "uint64",
                  "id": 2
                },
                "pids": {
                  "type": "uint32",
                  "id": 3
                },
                "pids_max": {
                  "type": "uint32",
                  "id": 4
                }
              }
            },
            "StopRequest": {
              "fields": {
                "grace_ms": {
                  "type": "uint32",
                  "id": 1
                },
                "restart": {
                  "type": "bool",
                  "id": 2
                }
              }
            },
            "StopResponse": {
              "fields": {
                "pid": {
                  "type": "uint32",
                  "id": 1
                },
                "active_calls": {
                  "type": "uint32",
                  "id": 2
                },
                "ended_calls": {
                  "type": "uint32",
                  "id": 3
                }
              }
            },
            "RestartRequest": {
              "fields": {
                "path": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "RestartResponse": {
              "fields": {
                "pid": {
                  "type": "uint32",
                  "id": 1
                },
                "carried_calls": {
                  "type": "uint32",
                  "id": 2
                },
                "carried_jobs": {
                  "type": "uint32",
                  "id": 3
                }
              }
            },
            "ProjectRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "ProjectResponse": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "changed": {
                  "type": "bool",
                  "id": 2
                },
                "tools": {
                  "rule": "repeated",
                  "type": "ToolInfo",
                  "id": 3
                }
              }
            },
            "ListRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "offered": {
                  "type": "bool",
                  "id": 2
                }
              }
            },
            "InstallRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "source": {
                  "type": "string",
                  "id": 2
                },
                "cwd": {
                  "type": "string",
                  "id": 3
                },
                "variables": {
                  "keyType": "string",
                  "type": "string",
                  "id": 4
                },
                "submodules": {
                  "type": "bool",
                  "id": 5
                },
                "lfs": {
                  "type": "bool",
                  "id": 6
                },
                "commit": {
                  "type": "string",
                  "id": 7
                },
                "archive_sha256": {
                  "type": "string",
                  "id": 8
                }
              }
            },
            "InstallEvent": {
              "oneofs": {
                "event": {
                  "oneof": [
                    "progress",
                    "plan"
                  ]
                }
              },
              "fields": {
                "progress": {
                  "type": "InstallProgress",
                  "id": 1
                },
                "plan": {
                  "type": "ToolPlan",
                  "id": 2
                }
              }
            },
            "InstallProgress": {
              "fields": {
                "step": {
                  "type": "string",
                  "id": 1
                },
                "bytes": {
                  "type": "uint64",
                  "id": 2
                },
                "total_bytes": {
                  "type": "uint64",
                  "id": 3
                },
                "bytes_per_second": {
                  "type": "uint64",
                  "id": 4
                },
                "text": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "ToolOrigin": {
              "fields": {
                "source": {
                  "type": "string",
                  "id": 1
                },
                "commit": {
                  "type": "string",
                  "id": 2
                },
                "archive_sha256": {
                  "type": "string",
                  "id": 3
                },
                "signer": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "ToolPlan": {
              "fields": {
                "tool": {
                  "type": "ToolInfo",
                  "id": 1
                },
                "state": {
                  "type": "string",
                  "id": 2
                },
                "grant_words": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "new_grants": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 4
                },
                "before": {
                  "type": "ToolInfo",
                  "id": 5
                },
                "files_added": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "files_removed": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 7
                },
                "files_changed": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 8
                },
                "schema_changed": {
                  "type": "bool",
                  "id": 9
                },
                "files": {
                  "type": "uint32",
                  "id": 10
                },
                "bytes": {
                  "type": "uint64",
                  "id": 11
                }
              }
            },
            "AcceptToolRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "bundle_sha256": {
                  "type": "string",
                  "id": 2
                },
                "unattended": {
                  "type": "bool",
                  "id": 3
                }
              }
            },
            "ToolRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "name": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "RollbackToolRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "name": {
                  "type": "string",
                  "id": 2
                },
                "preview": {
                  "type": "bool",
                  "id": 3
                }
              }
            },
            "ProjectTools": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "tools": {
                  "rule": "repeated",
                  "type": "ToolInfo",
                  "id": 2
                }
              }
            },
            "ListResponse": {
              "fields": {
                "tools": {
                  "rule": "repeated",
                  "type": "ToolInfo",
                  "id": 1
                }
              }
            },
            "ToolInfo": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "purpose": {
                  "type": "string",
                  "id": 2
                },
                "bundle_sha256": {
                  "type": "string",
                  "id": 3
                },
                "origin": {
                  "type": "string",
                  "id": 4
                },
                "schema_json": {
                  "type": "string",
                  "id": 5
                },
                "tool_md": {
                  "type": "string",
                  "id": 6
                },
                "tool_extended_md": {
                  "type": "string",
                  "id": 7
                },
                "grants": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 8
                },
                "version": {
                  "type": "string",
                  "id": 9
                },
                "installed_from": {
                  "type": "ToolOrigin",
                  "id": 10
                },
                "accepted_ms": {
                  "type": "uint64",
                  "id": 11
                },
                "last_used": {
                  "type": "string",
                  "id": 12
                },
                "schema_tokens": {
                  "type": "uint32",
                  "id": 13
                },
                "state": {
                  "type": "string",
                  "id": 14
                }
              }
            },
            "RecordSettingsRequest": {
              "fields": {}
            },
            "RecordedSettings": {
              "fields": {
                "changed": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 1
                }
              }
            },
            "AuditRequest": {
              "fields": {
                "limit": {
                  "type": "uint32",
                  "id": 1
                },
                "project_root": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "AuditResponse": {
              "fields": {
                "records_json": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 1
                },
                "unreadable": {
                  "type": "uint64",
                  "id": 2
                }
              }
            },
            "SessionRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "SessionList": {
              "fields": {
                "sessions": {
                  "rule": "repeated",
                  "type": "SessionSummary",
                  "id": 1
                }
              }
            },
            "SessionSummary": {
              "fields": {
                "session": {
                  "type": "string",
                  "id": 1
                },
                "position": {
                  "type": "double",
                  "id": 2
                },
                "events": {
                  "type": "double",
                  "id": 3
                },
                "branches": {
                  "type": "double",
                  "id": 4
                },
                "first_ms": {
                  "type": "double",
                  "id": 5
                },
                "last_ms": {
                  "type": "double",
                  "id": 6
                }
              }
            },
            "SessionEventsRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "branch": {
                  "type": "string",
                  "id": 3
                },
                "all_branches": {
                  "type": "bool",
                  "id": 4
                },
                "from": {
                  "type": "double",
                  "id": 5
                },
                "to": {
                  "type": "double",
                  "id": 6
                },
                "limit": {
                  "type": "uint32",
                  "id": 7
                }
              }
            },
            "SessionEvents": {
              "fields": {
                "session": {
                  "type": "string",
                  "id": 1
                },
                "events": {
                  "rule": "repeated",
                  "type": "SessionEvent",
                  "id": 2
                }
              }
            },
            "SessionEvent": {
              "fields": {
                "seq": {
                  "type": "double",
                  "id": 1
                },
                "branch": {
                  "type": "string",
                  "id": 2
                },
                "kind": {
                  "type": "string",
                  "id": 3
                },
                "parent": {
                  "type": "double",
                  "id": 4
                },
                "at_ms": {
                  "type": "double",
                  "id": 5
                },
                "sensitivity": {
                  "type": "string",
                  "id": 6
                },
                "tokens": {
                  "type": "double",
                  "id": 7
                },
                "text": {
                  "type": "string",
                  "id": 8
                },
                "facts_json": {
                  "type": "string",
                  "id": 9
                },
                "artifact": {
                  "type": "string",
                  "id": 10
                }
              }
            },
            "SessionContextRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "branch": {
                  "type": "string",
                  "id": 3
                },
                "phase": {
                  "type": "string",
                  "id": 4
                },
                "query": {
                  "type": "string",
                  "id": 5
                },
                "budget_tokens": {
                  "type": "uint32",
                  "id": 6
                },
                "floor": {
                  "type": "string",
                  "id": 7
                },
                "redact": {
                  "type": "bool",
                  "id": 8
                },
                "to": {
                  "type": "double",
                  "id": 9
                }
              }
            },
            "SessionContext": {
              "fields": {
                "session": {
                  "type": "string",
                  "id": 1
                },
                "position": {
                  "type": "double",
                  "id": 2
                },
                "text": {
                  "type": "string",
                  "id": 3
                },
                "sha256": {
                  "type": "string",
                  "id": 4
                },
                "stats_json": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "SessionReplay": {
              "fields": {
                "session": {
                  "type": "string",
                  "id": 1
                },
                "contexts": {
                  "rule": "repeated",
                  "type": "ReplayedContext",
                  "id": 2
                }
              }
            },
            "ReplayedContext": {
              "fields": {
                "number": {
                  "type": "double",
                  "id": 1
                },
                "position": {
                  "type": "double",
                  "id": 2
                },
                "phase": {
                  "type": "string",
                  "id": 3
                },
                "sha256": {
                  "type": "string",
                  "id": 4
                },
                "at_ms": {
                  "type": "double",
                  "id": 5
                },
                "result": {
                  "type": "string",
                  "id": 6
                }
              }
            },
            "SessionSecretsResponse": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "secrets": {
                  "rule": "repeated",
                  "type": "SecretSummary",
                  "id": 3
                }
              }
            },
            "SecretSummary": {
              "fields": {
                "token": {
                  "type": "string",
                  "id": 1
                },
                "rule": {
                  "type": "string",
                  "id": 2
                },
                "kind": {
                  "type": "string",
                  "id": 3
                },
                "tool": {
                  "type": "string",
                  "id": 4
                },
                "first_seen_ms": {
                  "type": "uint64",
                  "id": 5
                },
                "uses": {
                  "type": "uint64",
                  "id": 6
                },
                "opened": {
                  "type": "uint64",
                  "id": 7
                },
                "last_opened_ms": {
                  "type": "uint64",
                  "id": 8
                }
              }
            },
            "SecretRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "token": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "RevealedSecret": {
              "fields": {
                "summary": {
                  "type": "SecretSummary",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "request_id": {
                  "type": "string",
                  "id": 3
                },
                "input": {
                  "type": "string",
                  "id": 4
                },
                "value": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "AllowValueRequest": {
              "fields": {
                "secret": {
                  "type": "SecretRequest",
                  "id": 1
                },
                "value": {
                  "type": "string",
                  "id": 2
                },
                "everywhere": {
                  "type": "bool",
                  "id": 3
                },
                "by": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "DisallowValueRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "id": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "AllowedValues": {
              "fields": {
                "values": {
                  "rule": "repeated",
                  "type": "AllowedValue",
                  "id": 1
                },
                "changed": {
                  "rule": "repeated",
                  "type": "AllowedValue",
                  "id": 2
                },
                "session": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "AllowedValue": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "root": {
                  "type": "string",
                  "id": 2
                },
                "rule": {
                  "type": "string",
                  "id": 3
                },
                "allowed_ms": {
                  "type": "uint64",
                  "id": 4
                },
                "by": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "EndSessionResponse": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "ended": {
                  "type": "bool",
                  "id": 3
                }
              }
            },
            "RunningRequest": {
              "fields": {
                "project_root": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "RunningResponse": {
              "fields": {
                "items": {
                  "rule": "repeated",
                  "type": "RunningItem",
                  "id": 1
                }
              }
            },
            "KillRequest": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "BranchList": {
              "fields": {
                "branches": {
                  "rule": "repeated",
                  "type": "BranchInfo",
                  "id": 1
                }
              }
            },
            "BranchInfo": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "parent": {
                  "type": "string",
                  "id": 3
                },
                "description": {
                  "type": "string",
                  "id": 4
                },
                "state": {
                  "type": "string",
                  "id": 5
                },
                "tokens": {
                  "type": "uint32",
                  "id": 6
                },
                "budget_tokens": {
                  "type": "uint32",
                  "id": 7
                },
                "calls": {
                  "type": "uint32",
                  "id": 8
                },
                "opened_ms": {
                  "type": "double",
                  "id": 9
                },
                "closed_ms": {
                  "type": "double",
                  "id": 10
                },
                "timeout_ms": {
                  "type": "double",
                  "id": 11
                },
                "files": {
                  "type": "string",
                  "id": 12
                }
              }
            },
            "BranchFilesRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "branch": {
                  "type": "string",
                  "id": 2
                },
                "discard": {
                  "type": "bool",
                  "id": 3
                },
                "keep_base": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 4
                },
                "take_branch": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 5
                },
                "merge_text": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "patch": {
                  "type": "bool",
                  "id": 7
                }
              }
            },
            "BranchFilesPlan": {
              "fields": {
                "branch": {
                  "type": "string",
                  "id": 1
                },
                "state": {
                  "type": "string",
                  "id": 2
                },
                "changes": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "conflicts": {
                  "rule": "repeated",
                  "type": "BranchFile",
                  "id": 4
                },
                "skipped": {
                  "rule": "repeated",
                  "type": "BranchFile",
                  "id": 5
                },
                "commits": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "patch": {
                  "type": "string",
                  "id": 7
                },
                "patch_left": {
                  "type": "uint32",
                  "id": 8
                },
                "undone_by": {
                  "type": "string",
                  "id": 9
                }
              }
            },
            "BranchFile": {
              "fields": {
                "path": {
                  "type": "string",
                  "id": 1
                },
                "why": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "RunningItem": {
              "oneofs": {
                "_memory_bytes": {
                  "oneof": [
                    "memory_bytes"
                  ]
                },
                "_cpu_ms": {
                  "oneof": [
                    "cpu_ms"
                  ]
                }
              },
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "kind": {
                  "type": "string",
                  "id": 2
                },
                "project": {
                  "type": "string",
                  "id": 3
                },
                "session": {
                  "type": "string",
                  "id": 4
                },
                "tool": {
                  "type": "string",
                  "id": 5
                },
                "job": {
                  "type": "uint32",
                  "id": 6
                },
                "started_ms": {
                  "type": "double",
                  "id": 7
                },
                "command": {
                  "type": "string",
                  "id": 8
                },
                "memory_bytes": {
                  "type": "double",
                  "id": 9,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "cpu_ms": {
                  "type": "double",
                  "id": 10,
                  "options": {
                    "proto3_optional": true
                  }
                }
              }
            },
            "StatsRequest": {
              "fields": {
                "project_root": {
                  "type": "string",
                  "id": 1
                },
                "days": {
                  "type": "uint32",
                  "id": 2
                }
              }
            },
            "StatsResponse": {
              "fields": {
                "rows": {
                  "rule": "repeated",
                  "type": "StatsRow",
                  "id": 1
                }
              }
            },
            "StatsRow": {
              "fields": {
                "day": {
                  "type": "string",
                  "id": 1
                },
                "project": {
                  "type": "string",
                  "id": 2
                },
                "session": {
                  "type": "string",
                  "id": 3
                },
                "tool": {
                  "type": "string",
                  "id": 4
                },
                "calls": {
                  "type": "uint64",
                  "id": 5
                },
                "failed": {
                  "type": "uint64",
                  "id": 6
                },
                "secrets": {
                  "type": "uint64",
                  "id": 7
                },
                "missed_by_first_pass": {
                  "type": "uint64",
                  "id": 8
                },
                "missed_by_engine": {
                  "type": "uint64",
                  "id": 9
                },
                "duration_ms": {
                  "type": "double",
                  "id": 10
                },
                "scrub_ms": {
                  "type": "double",
                  "id": 11
                },
                "follow_ups": {
                  "type": "uint64",
                  "id": 12
                },
                "counted_calls": {
                  "type": "uint64",
                  "id": 13
                },
                "estimated_calls": {
                  "type": "uint64",
                  "id": 14
                },
                "tokens_run": {
                  "type": "double",
                  "id": 15
                },
                "tokens_returned": {
                  "type": "double",
                  "id": 16
                },
                "tokens_saved": {
                  "type": "double",
                  "id": 17
                },
                "artifacts": {
                  "type": "uint64",
                  "id": 18
                },
                "truncated": {
                  "type": "uint64",
                  "id": 19
                },
                "timed_calls": {
                  "type": "uint64",
                  "id": 20
                },
                "added_ms": {
                  "type": "double",
                  "id": 21
                },
                "errors": {
                  "keyType": "string",
                  "type": "uint64",
                  "id": 22
                },
                "kept": {
                  "type": "uint64",
                  "id": 23
                },
                "retries": {
                  "type": "uint64",
                  "id": 24
                }
              }
            },
            "ApproveRulesRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "sha256": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "RulesReview": {
              "fields": {
                "path": {
                  "type": "string",
                  "id": 1
                },
                "sha256": {
                  "type": "string",
                  "id": 2
                },
                "approved": {
                  "type": "bool",
                  "id": 3
                },
                "rules": {
                  "type": "uint32",
                  "id": 4
                },
                "allowances": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 5
                },
                "fault": {
                  "type": "string",
                  "id": 6
                }
              }
            },
            "QuarantineRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "which": {
                  "type": "string",
                  "id": 2
                },
                "unseen": {
                  "type": "bool",
                  "id": 3
                }
              }
            },
            "AcceptQuarantinedRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "which": {
                  "type": "string",
                  "id": 2
                },
                "sha256": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "QuarantineResponse": {
              "fields": {
                "items": {
                  "rule": "repeated",
                  "type": "QuarantinedItem",
                  "id": 1
                },
                "accepted": {
                  "rule": "repeated",
                  "type": "AcceptedContent",
                  "id": 2
                }
              }
            },
            "QuarantinedItem": {
              "oneofs": {
                "_size_bytes": {
                  "oneof": [
                    "size_bytes"
                  ]
                }
              },
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "path": {
                  "type": "string",
                  "id": 2
                },
                "moved": {
                  "type": "string",
                  "id": 3
                },
                "reason": {
                  "type": "string",
                  "id": 4
                },
                "set_aside_ms": {
                  "type": "double",
                  "id": 5
                },
                "kind": {
                  "type": "string",
                  "id": 6
                },
                "size_bytes": {
                  "type": "double",
                  "id": 7,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "sha256": {
                  "type": "string",
                  "id": 8
                },
                "no_hash_because": {
                  "type": "string",
                  "id": 9
                },
                "preview": {
                  "type": "string",
                  "id": 10
                }
              }
            },
            "AcceptedContent": {
              "fields": {
                "path": {
                  "type": "string",
                  "id": 1
                },
                "sha256": {
                  "type": "string",
                  "id": 2
                },
                "accepted_ms": {
                  "type": "double",
                  "id": 3
                }
              }
            },
            "CatalogueResponse": {
              "fields": {
                "items_json": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 1
                },
                "choices": {
                  "rule": "repeated",
                  "type": "ToolChoice",
                  "id": 2
                },
                "learned_most": {
                  "type": "double",
                  "id": 3
                }
              }
            },
            "ToolChoice": {
              "fields": {
                "tool_id": {
                  "type": "string",
                  "id": 1
                },
                "words": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                }
              }
            },
            "PortsResponse": {
              "fields": {
                "ports": {
                  "rule": "repeated",
                  "type": "ListeningPort",
                  "id": 1
                }
              }
            },
            "ListeningPort": {
              "fields": {
                "port": {
                  "type": "uint32",
                  "id": 1
                },
                "address": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "OpenPortRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "port": {
                  "type": "uint32",
                  "id": 2
                }
              }
            },
            "OpenPortResponse": {
              "fields": {
                "socket": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "HealthRequest": {
              "fields": {
                "project_root": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "HealthResponse": {
              "fields": {
                "checks": {
                  "rule": "repeated",
                  "type": "HealthCheck",
                  "id": 1
                }
              }
            },
            "HealthCheck": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "status": {
                  "type": "string",
                  "id": 2
                },
                "detail": {
                  "type": "string",
                  "id": 3
                },
                "remedy": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "ToolchainRequest": {
              "fields": {}
            },
            "ToolchainList": {
              "fields": {
                "toolchains": {
                  "rule": "repeated",
                  "type": "Toolchain",
                  "id": 1
                },
                "path": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                }
              }
            },
            "Toolchain": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "mounts": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                },
                "variables": {
                  "keyType": "string",
                  "type": "string",
                  "id": 3
                }
              }
            },
            "PathRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "path": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "PathList": {
              "fields": {
                "paths": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 1
                }
              }
            },
            "CachesRequest": {
              "fields": {
                "project_root": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "CachesResponse": {
              "fields": {
                "caches": {
                  "rule": "repeated",
                  "type": "ProjectCaches",
                  "id": 1
                }
              }
            },
            "ProjectCaches": {
              "fields": {
                "project": {
                  "type": "string",
                  "id": 1
                },
                "bytes": {
                  "type": "double",
                  "id": 2
                },
                "max_bytes": {
                  "type": "double",
                  "id": 3
                },
                "used_ms": {
                  "type": "double",
                  "id": 4
                }
              }
            },
            "HostNetworkRequest": {
              "fields": {}
            },
            "HostNetwork": {
              "fields": {
                "certificates": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 1
                },
                "ca_variables": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                },
                "registries": {
                  "rule": "repeated",
                  "type": "RegistrySetting",
                  "id": 3
                },
                "private_hosts": {
                  "rule": "repeated",
                  "type": "PrivateHost",
                  "id": 4
                }
              }
            },
            "RegistrySetting": {
              "fields": {
                "client": {
                  "type": "string",
                  "id": 1
                },
                "key": {
                  "type": "string",
                  "id": 2
                },
                "value": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "PrivateHost": {
              "fields": {
                "host": {
                  "type": "string",
                  "id": 1
                },
                "addresses": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                }
              }
            },
            "NetworkChange": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "action": {
                  "type": "string",
                  "id": 2
                },
                "targets": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "once": {
                  "type": "bool",
                  "id": 4
                },
                "for_ms": {
                  "type": "uint64",
                  "id": 5
                },
                "private_addresses": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "by": {
                  "type": "string",
                  "id": 7
                },
                "dry_run": {
                  "type": "bool",
                  "id": 8
                }
              }
            },
            "NetworkRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "NetworkState": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "is_on": {
                  "type": "bool",
                  "id": 2
                },
                "is_on_from": {
                  "type": "string",
                  "id": 3
                },
                "rules": {
                  "rule": "repeated",
                  "type": "NetworkRuleInfo",
                  "id": 4
                },
                "changed": {
                  "rule": "repeated",
                  "type": "NetworkRuleInfo",
                  "id": 5
                },
                "notes": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "tools": {
                  "rule": "repeated",
                  "type": "NetworkToolInfo",
                  "id": 7
                }
              }
            },
            "NetworkRuleInfo": {
              "fields": {
                "from": {
                  "type": "string",
                  "id": 1
                },
                "pattern": {
                  "type": "string",
                  "id": 2
                },
                "verdict": {
                  "type": "string",
                  "id": 3
                },
                "group": {
                  "type": "string",
                  "id": 4
                },
                "once": {
                  "type": "bool",
                  "id": 5
                },
                "expires_ms": {
                  "type": "uint64",
                  "id": 6
                },
                "private_addresses": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 7
                },
                "given_ms": {
                  "type": "uint64",
                  "id": 8
                },
                "given_by": {
                  "type": "string",
                  "id": 9
                },
                "overridden_by": {
                  "type": "string",
                  "id": 10
                }
              }
            },
            "NetworkToolInfo": {
              "fields": {
                "tool": {
                  "type": "string",
                  "id": 1
                },
                "asks_for": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                },
                "may_reach": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                }
              }
            },
            "NetworkGroupsRequest": {
              "fields": {}
            },
            "NetworkGroups": {
              "fields": {
                "groups": {
                  "rule": "repeated",
                  "type": "NetworkGroup",
                  "id": 1
                }
              }
            },
            "NetworkGroup": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "summary": {
                  "type": "string",
                  "id": 2
                },
                "patterns": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "mirrors": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 4
                }
              }
            },
            "NetworkLogRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "denied_only": {
                  "type": "bool",
                  "id": 3
                },
                "after_id": {
                  "type": "uint64",
                  "id": 4
                },
                "limit": {
                  "type": "uint32",
                  "id": 5
                }
              }
            },
            "NetworkLogResponse": {
              "fields": {
                "entries": {
                  "rule": "repeated",
                  "type": "NetworkLogEntry",
                  "id": 1
                }
              }
            },
            "NetworkLogEntry": {
              "oneofs": {
                "_duration_ms": {
                  "oneof": [
                    "duration_ms"
                  ]
                }
              },
              "fields": {
                "id": {
                  "type": "uint64",
                  "id": 1
                },
                "at_ms": {
                  "type": "uint64",
                  "id": 2
                },
                "project": {
                  "type": "string",
                  "id": 3
                },
                "tool": {
                  "type": "string",
                  "id": 4
                },
                "session": {
                  "type": "string",
                  "id": 5
                },
                "request_id": {
                  "type": "string",
                  "id": 6
                },
                "host": {
                  "type": "string",
                  "id": 7
                },
                "port": {
                  "type": "uint32",
                  "id": 8
                },
                "via": {
                  "type": "string",
                  "id": 9
                },
                "verdict": {
                  "type": "string",
                  "id": 10
                },
                "rule": {
                  "type": "string",
                  "id": 11
                },
                "why": {
                  "type": "string",
                  "id": 12
                },
                "up": {
                  "type": "uint64",
                  "id": 13
                },
                "down": {
                  "type": "uint64",
                  "id": 14
                },
                "duration_ms": {
                  "type": "uint64",
                  "id": 15,
                  "options": {
                    "proto3_optional": true
                  }
                },
                "repeats": {
                  "type": "uint32",
                  "id": 16
                }
              }
            },
            "NetworkCredentialChange": {
              "fields": {
                "credential": {
                  "type": "NetworkCredentialInfo",
                  "id": 1
                },
                "root": {
                  "type": "string",
                  "id": 2
                },
                "secret": {
                  "type": "string",
                  "id": 3
                },
                "dry_run": {
                  "type": "bool",
                  "id": 4
                }
              }
            },
            "NetworkCredentialRemoval": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "host": {
                  "type": "string",
                  "id": 2
                },
                "paths": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                }
              }
            },
            "NetworkCredentials": {
              "fields": {
                "credentials": {
                  "rule": "repeated",
                  "type": "NetworkCredentialInfo",
                  "id": 1
                },
                "changed": {
                  "rule": "repeated",
                  "type": "NetworkCredentialInfo",
                  "id": 2
                },
                "notes": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                }
              }
            },
            "NetworkCredentialInfo": {
              "fields": {
                "host": {
                  "type": "string",
                  "id": 1
                },
                "port": {
                  "type": "uint32",
                  "id": 2
                },
                "header": {
                  "type": "string",
                  "id": 3
                },
                "scheme": {
                  "type": "string",
                  "id": 4
                },
                "user": {
                  "type": "string",
                  "id": 5
                },
                "source": {
                  "type": "string",
                  "id": 6
                },
                "methods": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 7
                },
                "paths": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 8
                },
                "placeholders": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 9
                },
                "refresh_ms": {
                  "type": "uint64",
                  "id": 10
                },
                "from": {
                  "type": "string",
                  "id": 11
                },
                "read_ms": {
                  "type": "uint64",
                  "id": 12
                },
                "given_by": {
                  "type": "string",
                  "id": 13
                },
                "state": {
                  "type": "string",
                  "id": 14
                }
              }
            },
            "MemoryQuery": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "query": {
                  "type": "string",
                  "id": 2
                },
                "limit": {
                  "type": "uint32",
                  "id": 3
                },
                "tags": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 4
                },
                "outcome": {
                  "type": "string",
                  "id": 5
                },
                "scope": {
                  "type": "string",
                  "id": 6
                },
                "max_age_days": {
                  "type": "uint32",
                  "id": 7
                }
              }
            },
            "MemoryListRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "after_id": {
                  "type": "string",
                  "id": 2
                },
                "limit": {
                  "type": "uint32",
                  "id": 3
                },
                "with_content": {
                  "type": "bool",
                  "id": 4
                }
              }
            },
            "MemoryRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "ids": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                }
              }
            },
            "MemoryList": {
              "fields": {
                "memories": {
                  "rule": "repeated",
                  "type": "MemoryItem",
                  "id": 1
                },
                "degraded": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "MemoryItem": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "title": {
                  "type": "string",
                  "id": 2
                },
                "description": {
                  "type": "string",
                  "id": 3
                },
                "content": {
                  "type": "string",
                  "id": 4
                },
                "tags": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 5
                },
                "outcome": {
                  "type": "string",
                  "id": 6
                },
                "task": {
                  "type": "string",
                  "id": 7
                },
                "context": {
                  "type": "string",
                  "id": 8
                },
                "scope": {
                  "type": "string",
                  "id": 9
                },
                "project": {
                  "type": "string",
                  "id": 10
                },
                "origin": {
                  "type": "string",
                  "id": 11
                },
                "owner": {
                  "type": "string",
                  "id": 12
                },
                "source": {
                  "type": "string",
                  "id": 13
                },
                "provenance": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 14
                },
                "contradicts": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 15
                },
                "confidence": {
                  "type": "double",
                  "id": 16
                },
                "uses": {
                  "type": "uint32",
                  "id": 17
                },
                "quarantined": {
                  "type": "bool",
                  "id": 18
                },
                "created_ms": {
                  "type": "double",
                  "id": 19
                },
                "updated_ms": {
                  "type": "double",
                  "id": 20
                },
                "used_ms": {
                  "type": "double",
                  "id": 21
                },
                "replaces": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 22
                },
                "replaced_by": {
                  "type": "string",
                  "id": 23
                }
              }
            },
            "NewMemories": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "drafts_json": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                },
                "source": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "AddedMemories": {
              "fields": {
                "results": {
                  "rule": "repeated",
                  "type": "AddedMemory",
                  "id": 1
                }
              }
            },
            "AddedMemory": {
              "fields": {
                "state": {
                  "type": "string",
                  "id": 1
                },
                "id": {
                  "type": "string",
                  "id": 2
                },
                "contradicts": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "fault": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "MemoryRating": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "id": {
                  "type": "string",
                  "id": 2
                },
                "outcome": {
                  "type": "string",
                  "id": 3
                },
                "note": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "MemoryEvidence": {
              "fields": {
                "memory": {
                  "type": "MemoryItem",
                  "id": 1
                },
                "feedback": {
                  "rule": "repeated",
                  "type": "MemoryFeedback",
                  "id": 2
                }
              }
            },
            "MemoryFeedback": {
              "fields": {
                "outcome": {
                  "type": "string",
                  "id": 1
                },
                "note": {
                  "type": "string",
                  "id": 2
                },
                "request_id": {
                  "type": "string",
                  "id": 3
                },
                "at_ms": {
                  "type": "double",
                  "id": 4
                }
              }
            },
            "MemoryReport": {
              "fields": {
                "holdout": {
                  "type": "double",
                  "id": 1
                },
                "memories": {
                  "rule": "repeated",
                  "type": "MemoryLift",
                  "id": 2
                },
                "kinds": {
                  "rule": "repeated",
                  "type": "KindLift",
                  "id": 3
                }
              }
            },
            "KindLift": {
              "fields": {
                "kind": {
                  "type": "string",
                  "id": 1
                },
                "reported": {
                  "type": "uint32",
                  "id": 2
                },
                "weak": {
                  "type": "uint32",
                  "id": 3
                },
                "open": {
                  "type": "uint32",
                  "id": 4
                },
                "shown_success": {
                  "type": "double",
                  "id": 5
                },
                "held_out_success": {
                  "type": "double",
                  "id": 6
                },
                "lift": {
                  "type": "double",
                  "id": 7
                },
                "low": {
                  "type": "double",
                  "id": 8
                },
                "high": {
                  "type": "double",
                  "id": 9
                },
                "verdict": {
                  "type": "string",
                  "id": 10
                }
              }
            },
            "MemoryLift": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "title": {
                  "type": "string",
                  "id": 2
                },
                "shown": {
                  "type": "uint32",
                  "id": 3
                },
                "held_out": {
                  "type": "uint32",
                  "id": 4
                },
                "shown_open": {
                  "type": "uint32",
                  "id": 5
                },
                "held_out_open": {
                  "type": "uint32",
                  "id": 6
                },
                "shown_success": {
                  "type": "double",
                  "id": 7
                },
                "held_out_success": {
                  "type": "double",
                  "id": 8
                },
                "lift": {
                  "type": "double",
                  "id": 9
                },
                "low": {
                  "type": "double",
                  "id": 10
                },
                "high": {
                  "type": "double",
                  "id": 11
                },
                "verdict": {
                  "type": "string",
                  "id": 12
                }
              }
            },
            "LearnRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "request_ids": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                },
                "session": {
                  "type": "string",
                  "id": 3
                },
                "task": {
                  "type": "string",
                  "id": 4
                },
                "outcome": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "PendingLessons": {
              "fields": {
                "lessons": {
                  "rule": "repeated",
                  "type": "PendingLesson",
                  "id": 1
                }
              }
            },
            "PendingLesson": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "task": {
                  "type": "string",
                  "id": 2
                },
                "calls": {
                  "type": "uint32",
                  "id": 3
                },
                "asked_ms": {
                  "type": "double",
                  "id": 4
                },
                "state": {
                  "type": "string",
                  "id": 5
                },
                "fault": {
                  "type": "string",
                  "id": 6
                }
              }
            },
            "MemorySyncRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "action": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "MemorySync": {
              "fields": {
                "state": {
                  "type": "string",
                  "id": 1
                },
                "url": {
                  "type": "string",
                  "id": 2
                },
                "collection": {
                  "type": "string",
                  "id": 3
                },
                "project_id": {
                  "type": "string",
                  "id": 4
                },
                "pending": {
                  "type": "uint32",
                  "id": 5
                },
                "foreign": {
                  "type": "uint32",
                  "id": 6
                },
                "refused": {
                  "type": "uint32",
                  "id": 7
                },
                "synced_ms": {
                  "type": "double",
                  "id": 8
                },
                "fault": {
                  "type": "string",
                  "id": 9
                },
                "retry_ms": {
                  "type": "uint32",
                  "id": 10
                }
              }
            },
            "HookReport": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "hook": {
                  "type": "string",
                  "id": 3
                },
                "cause": {
                  "type": "string",
                  "id": 4
                },
                "items": {
                  "rule": "repeated",
                  "type": "HandedIn",
                  "id": 5
                }
              }
            },
            "HandedIn": {
              "fields": {
                "role": {
                  "type": "string",
                  "id": 1
                },
                "text": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "HookAnswer": {
              "fields": {
                "text": {
                  "type": "string",
                  "id": 1
                },
                "recorded": {
                  "type": "uint32",
                  "id": 2
                },
                "warm_start_tokens": {
                  "type": "uint32",
                  "id": 3
                }
              }
            },
            "UndoRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "which": {
                  "type": "string",
                  "id": 2
                },
                "partial": {
                  "type": "bool",
                  "id": 3
                }
              }
            },
            "UndoPlan": {
              "fields": {
                "ref": {
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
                "at_ms": {
                  "type": "double",
                  "id": 4
                },
                "files": {
                  "rule": "repeated",
                  "type": "UndoFile",
                  "id": 5
                },
                "not_covered": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "shared": {
                  "type": "bool",
                  "id": 7
                },
                "undone_by": {
                  "type": "string",
                  "id": 8
                },
                "skipped": {
                  "rule": "repeated",
                  "type": "UndoCall",
                  "id": 9
                },
                "cut_short": {
                  "type": "bool",
                  "id": 10
                },
                "cut_short_beside": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 11
                }
              }
            },
            "UndoCalls": {
              "fields": {
                "calls": {
                  "rule": "repeated",
                  "type": "UndoCall",
                  "id": 1
                }
              }
            },
            "UndoCall": {
              "fields": {
                "ref": {
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
                "input": {
                  "type": "string",
                  "id": 4
                },
                "at_ms": {
                  "type": "double",
                  "id": 5
                },
                "files": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "file_count": {
                  "type": "uint32",
                  "id": 7
                },
                "not_covered": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 8
                },
                "verdict": {
                  "type": "string",
                  "id": 9
                },
                "cut_short": {
                  "type": "bool",
                  "id": 10
                }
              }
            },
            "UndoFile": {
              "fields": {
                "path": {
                  "type": "string",
                  "id": 1
                },
                "action": {
                  "type": "string",
                  "id": 2
                },
                "why": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "NewCheckpoint": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "name": {
                  "type": "string",
                  "id": 3
                },
                "note": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "ImportedCheckpoint": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "file": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "CheckpointRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "id": {
                  "type": "string",
                  "id": 3
                },
                "level": {
                  "type": "string",
                  "id": 4
                },
                "files": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "CheckpointList": {
              "fields": {
                "checkpoints": {
                  "rule": "repeated",
                  "type": "CheckpointItem",
                  "id": 1
                }
              }
            },
            "CheckpointText": {
              "fields": {
                "checkpoint": {
                  "type": "CheckpointItem",
                  "id": 1
                },
                "text": {
                  "type": "string",
                  "id": 2
                },
                "saved_first": {
                  "type": "string",
                  "id": 3
                },
                "undone_by": {
                  "type": "string",
                  "id": 4
                }
              }
            },
            "CheckpointItem": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "session": {
                  "type": "string",
                  "id": 2
                },
                "branch": {
                  "type": "string",
                  "id": 3
                },
                "name": {
                  "type": "string",
                  "id": 4
                },
                "cause": {
                  "type": "string",
                  "id": 5
                },
                "position": {
                  "type": "uint32",
                  "id": 6
                },
                "created_ms": {
                  "type": "double",
                  "id": 7
                },
                "summary": {
                  "type": "string",
                  "id": 8
                }
              }
            },
            "HttpChallenge": {
              "fields": {
                "nonce": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "HttpStanding": {
              "fields": {
                "enabled": {
                  "type": "bool",
                  "id": 1
                },
                "url": {
                  "type": "string",
                  "id": 2
                },
                "why": {
                  "type": "string",
                  "id": 3
                },
                "remedy": {
                  "type": "string",
                  "id": 4
                },
                "certificate_sha256": {
                  "type": "string",
                  "id": 5
                },
                "proof": {
                  "type": "string",
                  "id": 6
                }
              }
            },
            "NewHttpToken": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "root": {
                  "type": "string",
                  "id": 2
                },
                "permissions": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "expires_ms": {
                  "type": "uint64",
                  "id": 4
                },
                "replace": {
                  "type": "bool",
                  "id": 5
                }
              }
            },
            "HttpToken": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "root": {
                  "type": "string",
                  "id": 2
                },
                "permissions": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "made_ms": {
                  "type": "uint64",
                  "id": 4
                },
                "expires_ms": {
                  "type": "uint64",
                  "id": 5
                },
                "id": {
                  "type": "string",
                  "id": 6
                }
              }
            },
            "MadeHttpToken": {
              "fields": {
                "made": {
                  "type": "HttpToken",
                  "id": 1
                },
                "token": {
                  "type": "string",
                  "id": 2
                },
                "proof_key": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "HttpTokensRequest": {
              "fields": {}
            },
            "HttpTokenRequest": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "HttpTokenList": {
              "fields": {
                "tokens": {
                  "rule": "repeated",
                  "type": "HttpToken",
                  "id": 1
                }
              }
            },
            "ApprovalRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "id": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "ApprovalList": {
              "fields": {
                "items": {
                  "rule": "repeated",
                  "type": "WaitingApproval",
                  "id": 1
                }
              }
            },
            "WaitingApproval": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "rule": {
                  "type": "ApprovalRuleInfo",
                  "id": 2
                },
                "project": {
                  "type": "string",
                  "id": 3
                },
                "session": {
                  "type": "string",
                  "id": 4
                },
                "branch": {
                  "type": "string",
                  "id": 5
                },
                "tool": {
                  "type": "string",
                  "id": 6
                },
                "cwd": {
                  "type": "string",
                  "id": 7
                },
                "text": {
                  "type": "string",
                  "id": 8
                },
                "text_chars": {
                  "type": "uint32",
                  "id": 9
                },
                "text_withheld": {
                  "type": "bool",
                  "id": 10
                },
                "asked_ms": {
                  "type": "double",
                  "id": 11
                },
                "calls": {
                  "type": "uint32",
                  "id": 12
                },
                "hidden": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 13
                }
              }
            },
            "ApprovalAnswer": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "id": {
                  "type": "string",
                  "id": 2
                },
                "answer": {
                  "type": "string",
                  "id": 3
                },
                "for_ms": {
                  "type": "double",
                  "id": 4
                },
                "by": {
                  "type": "string",
                  "id": 5
                },
                "calls": {
                  "type": "uint32",
                  "id": 6
                }
              }
            },
            "AnsweredApproval": {
              "fields": {
                "rule": {
                  "type": "ApprovalRuleInfo",
                  "id": 1
                },
                "project": {
                  "type": "string",
                  "id": 2
                },
                "calls": {
                  "type": "uint32",
                  "id": 3
                },
                "expires_ms": {
                  "type": "double",
                  "id": 4
                }
              }
            },
            "ApprovalAnswerList": {
              "fields": {
                "answers": {
                  "rule": "repeated",
                  "type": "KeptApproval",
                  "id": 1
                }
              }
            },
            "KeptApproval": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "rule": {
                  "type": "ApprovalRuleInfo",
                  "id": 2
                },
                "project": {
                  "type": "string",
                  "id": 3
                },
                "verdict": {
                  "type": "string",
                  "id": 4
                },
                "given_ms": {
                  "type": "double",
                  "id": 5
                },
                "expires_ms": {
                  "type": "double",
                  "id": 6
                }
              }
            },
            "NewApprovalRule": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "tool": {
                  "type": "string",
                  "id": 2
                },
                "when": {
                  "type": "string",
                  "id": 3
                },
                "reason": {
                  "type": "string",
                  "id": 4
                },
                "by": {
                  "type": "string",
                  "id": 5
                }
              }
            },
            "ApprovalRuleList": {
              "fields": {
                "rules": {
                  "rule": "repeated",
                  "type": "ApprovalRuleInfo",
                  "id": 1
                }
              }
            },
            "ApprovalRuleInfo": {
              "fields": {
                "id": {
                  "type": "string",
                  "id": 1
                },
                "root": {
                  "type": "string",
                  "id": 2
                },
                "tool": {
                  "type": "string",
                  "id": 3
                },
                "when": {
                  "type": "string",
                  "id": 4
                },
                "reason": {
                  "type": "string",
                  "id": 5
                },
                "given_ms": {
                  "type": "double",
                  "id": 6
                },
                "by": {
                  "type": "string",
                  "id": 7
                },
                "tools": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 8
                }
              }
            },
            "UpstreamRequest": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "name": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "NewUpstream": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "name": {
                  "type": "string",
                  "id": 2
                },
                "command": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 3
                },
                "url": {
                  "type": "string",
                  "id": 4
                },
                "variables": {
                  "rule": "repeated",
                  "type": "UpstreamVariable",
                  "id": 5
                },
                "hosts": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 6
                },
                "paths": {
                  "rule": "repeated",
                  "type": "UpstreamPath",
                  "id": 7
                },
                "project": {
                  "type": "string",
                  "id": 8
                },
                "header_from": {
                  "type": "string",
                  "id": 9
                },
                "by": {
                  "type": "string",
                  "id": 10
                },
                "dry_run": {
                  "type": "bool",
                  "id": 11
                },
                "catalog": {
                  "type": "string",
                  "id": 12
                },
                "catalog_json": {
                  "type": "string",
                  "id": 13
                },
                "directory": {
                  "type": "string",
                  "id": 14
                }
              }
            },
            "UpstreamVariable": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "value": {
                  "type": "string",
                  "id": 2
                },
                "kept": {
                  "type": "bool",
                  "id": 3
                }
              }
            },
            "UpstreamPath": {
              "fields": {
                "path": {
                  "type": "string",
                  "id": 1
                },
                "writable": {
                  "type": "bool",
                  "id": 2
                }
              }
            },
            "UpstreamList": {
              "fields": {
                "servers": {
                  "rule": "repeated",
                  "type": "UpstreamInfo",
                  "id": 1
                }
              }
            },
            "UpstreamInfo": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "command": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 2
                },
                "url": {
                  "type": "string",
                  "id": 3
                },
                "variables": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 4
                },
                "hosts": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 5
                },
                "paths": {
                  "rule": "repeated",
                  "type": "UpstreamPath",
                  "id": 6
                },
                "project": {
                  "type": "string",
                  "id": 7
                },
                "header_from": {
                  "type": "string",
                  "id": 8
                },
                "state": {
                  "type": "string",
                  "id": 9
                },
                "protocol": {
                  "type": "string",
                  "id": 10
                },
                "tools": {
                  "type": "uint32",
                  "id": 11
                },
                "waiting": {
                  "type": "uint32",
                  "id": 12
                },
                "tokens": {
                  "type": "uint32",
                  "id": 13
                },
                "last_error": {
                  "type": "string",
                  "id": 14
                },
                "last_lines": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 15
                },
                "left_out": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 16
                },
                "added_ms": {
                  "type": "double",
                  "id": 17
                },
                "by": {
                  "type": "string",
                  "id": 18
                },
                "notes": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 19
                },
                "refused": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 20
                },
                "resources": {
                  "type": "uint32",
                  "id": 21
                },
                "prompts": {
                  "type": "uint32",
                  "id": 22
                },
                "catalog": {
                  "type": "string",
                  "id": 23
                },
                "to_grant": {
                  "type": "string",
                  "id": 24
                },
                "unseen": {
                  "rule": "repeated",
                  "type": "string",
                  "id": 25
                }
              }
            },
            "UpstreamApproval": {
              "fields": {
                "root": {
                  "type": "string",
                  "id": 1
                },
                "name": {
                  "type": "string",
                  "id": 2
                },
                "sha256": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "UpstreamReview": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "sha256": {
                  "type": "string",
                  "id": 2
                },
                "changes": {
                  "rule": "repeated",
                  "type": "UpstreamChange",
                  "id": 3
                }
              }
            },
            "UpstreamChange": {
              "fields": {
                "tool": {
                  "type": "string",
                  "id": 1
                },
                "kind": {
                  "type": "string",
                  "id": 2
                },
                "diff": {
                  "type": "string",
                  "id": 3
                }
              }
            },
            "CopyStateRequest": {
              "fields": {
                "file": {
                  "type": "string",
                  "id": 1
                }
              }
            },
            "StateCopy": {
              "fields": {
                "directory": {
                  "type": "string",
                  "id": 1
                },
                "segments": {
                  "rule": "repeated",
                  "type": "AuditSegment",
                  "id": 2
                }
              }
            },
            "AuditSegment": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "bytes": {
                  "type": "uint64",
                  "id": 2
                }
              }
            }
          }
        }
      }
    }
  }
}`;
