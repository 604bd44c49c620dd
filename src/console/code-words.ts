/** What the sign-in page and the dialog that signs in again ask for a one-time code with. */
export const codeTitle = 'Enter your code';
export const codeLabel = 'One-time code';
export const codeHint = 'The six digits that your app shows for Scanlog, or one of your recovery codes.';
