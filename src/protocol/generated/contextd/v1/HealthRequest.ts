// Original file: proto/contextd/v1/management.proto


export interface HealthRequest {
}

export interface HealthRequest__Output {
}
