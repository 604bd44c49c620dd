/** Something that only a newer version of Scanlog can read. `what` is the subject of a sentence: "A message of the stream". */
export class NewerVersion extends Error {
  constructor(what: string) {
    super(`${what} was written by a newer version of Scanlog: upgrade this process first`);
  }
}

/** Throws where `version` is above `newest`, the highest version that this process reads. */
export function refuseNewer(what: string, version: number, newest: number): void {
  if (version > newest) throw new NewerVersion(`${what} (version ${version}, this process reads up to ${newest})`);
}
