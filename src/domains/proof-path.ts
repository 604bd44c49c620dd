/** The path under which every process of the service answers for the token of a claim. */
export const proofPath = '/.well-known/scanlog/';
