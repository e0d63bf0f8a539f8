// Original file: proto/contextd/v1/management.proto


export interface StatusRequest {
}

export interface StatusRequest__Output {
}
