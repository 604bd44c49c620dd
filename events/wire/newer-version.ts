/** Data that only a newer version of Scanlog can read. `what` is the subject of the message: "A message of the stream". */
export class NewerVersion extends Error {
  constructor(what: string) {
    super(`${what} was written by a newer version of Scanlog: upgrade this process first`);
  }
}

/** Throws if `version` is above `newest`, the highest version that this process can read. */
export function refuseNewer(what: string, version: number, newest: number): void {
  if (version > newest) throw new NewerVersion(`${what} (version ${version}, this process reads up to ${newest})`);
}
