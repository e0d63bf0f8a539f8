// Original file: proto/contextd/v1/management.proto


export interface HostNetworkRequest {
}

export interface HostNetworkRequest__Output {
}
