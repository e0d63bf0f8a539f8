/** What one installation may use. Everything beyond is PAYLOAD_TOO_LARGE or TIMEOUT. */
export interface FetchLimits {
  /** Bytes that are downloaded, and bytes that are unpacked: each must stay within. */
  bytes: number;
  /** Files, directories and links of the tool. */
  files: number;
  /** Directories above a file, counted from the top of the tool. */
  depth: number;
  /** Characters of a path in the tool. */
  path_chars: number;
  /** Unpacked bytes per byte of the archive. Only the bytes beyond `RATIO_FREE_BYTES` are held to it. */
  ratio: number;
  /** Milliseconds for everything. */
  time_ms: number;
  /** Milliseconds without a byte after which a server counts as gone. */
  stall_ms: number;
}

/** The limits of an installation unless a person sets others. */
export const FETCH_LIMITS: FetchLimits = {
  // The largest real tools are Go programs for several systems and tools with their packages: about 100 MB.
  bytes: 256 * 1024 * 1024,
  // A tool that ships its node_modules has a few thousand.
  files: 20_000,
  // Packages in packages go 20 deep; a path must stay usable below data/tools/<sha256>/.
  depth: 32,
  // PATH_MAX is 4096 bytes on Linux and 1024 on macOS, with the directories above.
  path_chars: 512,
  // Text compresses by 4 to 10, the most regular real files by 50; a bomb by 1000.
  ratio: 100,
  // A large repository over a slow line.
  time_ms: 10 * 60_000,
  // Servers that pack a large repository think for some seconds.
  stall_ms: 30_000,
};

/** Bytes that may unpack from an archive at any ratio: a small file of blanks is not a bomb. */
export const RATIO_FREE_BYTES = 4 * 1024 * 1024;
