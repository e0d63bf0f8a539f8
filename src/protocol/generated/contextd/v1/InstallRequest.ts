// Original file: proto/contextd/v1/management.proto


export interface InstallRequest {
  /**
   * Absolute path of the project with symlinks resolved.
   */
  'root'?: (string);
  /**
   * In the grammar of docs/tools.md, such as "github.com/org/tool@v1".
   */
  'source'?: (string);
  /**
   * Absolute; what relative paths in `source` begin at.
   */
  'cwd'?: (string);
  /**
   * Variables of the person's shell that lead to credentials, proxies and certificates.
   */
  'variables'?: ({[key: string]: string});
  /**
   * True to fetch what git names besides its own files.
   */
  'submodules'?: (boolean);
  'lfs'?: (boolean);
  /**
   * What a lock file pins: the commit or the hash of the archive. Empty: not pinned.
   */
  'commit'?: (string);
  'archive_sha256'?: (string);
}

export interface InstallRequest__Output {
  /**
   * Absolute path of the project with symlinks resolved.
   */
  'root': (string);
  /**
   * In the grammar of docs/tools.md, such as "github.com/org/tool@v1".
   */
  'source': (string);
  /**
   * Absolute; what relative paths in `source` begin at.
   */
  'cwd': (string);
  /**
   * Variables of the person's shell that lead to credentials, proxies and certificates.
   */
  'variables': ({[key: string]: string});
  /**
   * True to fetch what git names besides its own files.
   */
  'submodules': (boolean);
  'lfs': (boolean);
  /**
   * What a lock file pins: the commit or the hash of the archive. Empty: not pinned.
   */
  'commit': (string);
  'archive_sha256': (string);
}
