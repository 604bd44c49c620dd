/** Somebody else has taken the projection further, or elsewhere: whoever meets it begins again from the checkpoint. */
export class Superseded extends Error {}
