import { StartError } from '../lib/errors.ts';

/** The archive cannot be read or written now. The message is one sentence for the operator. */
export class ArchiveError extends StartError {}

/** The file is not there; it may have been replaced by another version of it. */
export class ArchiveFileMissing extends ArchiveError {
  constructor(location: string) {
    super(`The archive file ${location} does not exist: put it back, or restore its scans from a backup.`);
  }
}
