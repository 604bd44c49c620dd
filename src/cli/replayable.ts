/** The projections that `./scanlog replay` rebuilds. */
export const replayable = ['state', 'analytics'] as const;
