/** Reads and writes archive files. A location is an absolute path or `s3://bucket/key`. */
export interface ArchiveFiles {
  /** Where a new file is written before `put`, on this machine. */
  stage(location: string): Promise<string>;
  /** Stores a staged and synced file, durably and as a whole, and removes the staged one. */
  put(staged: string, location: string): Promise<void>;
  /** Removes a staged file that will not be stored. */
  discard(staged: string): Promise<void>;
  /** Throws `ArchiveFileMissing` if there is no such file. */
  size(location: string): Promise<number>;
  /** Bytes from `start` to before `end`. Throws `ArchiveFileMissing` if there is no such file. */
  read(location: string, start: number, end: number): Promise<Uint8Array>;
  /** Also succeeds if there is no such file. */
  delete(location: string): Promise<void>;
}
