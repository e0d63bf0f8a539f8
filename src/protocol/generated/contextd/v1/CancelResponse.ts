// Original file: proto/contextd/v1/plugin.proto


export interface CancelResponse {
}

export interface CancelResponse__Output {
}
