/** Another writer appended an event with the same version: the caller must reload the stream and decide again. */
export class VersionTaken extends Error {
  constructor(stream: string) {
    super(`${stream} was changed at the same time by another request or command: read it and try again.`);
  }
}
