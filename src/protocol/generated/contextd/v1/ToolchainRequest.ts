// Original file: proto/contextd/v1/management.proto


export interface ToolchainRequest {
}

export interface ToolchainRequest__Output {
}
