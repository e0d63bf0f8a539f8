// Original file: proto/contextd/v1/management.proto


export interface NetworkGroupsRequest {
}

export interface NetworkGroupsRequest__Output {
}
