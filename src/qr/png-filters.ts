/** Filters of PNG: the byte before each row says what its values are. */

/** The pixels themselves. */
export const noFilter = 0;
/** The differences from the row above. */
export const upFilter = 2;
