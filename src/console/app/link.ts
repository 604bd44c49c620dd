/** The script of the pages that one-time links open: moves the token of the link from the address into the form, and sends it. */

const token = location.hash.slice(1);
// The token stays out of the history and of a copied address.
history.replaceState(null, '', location.pathname);
const form = document.getElementById('open') as HTMLFormElement | null;
const field = form?.elements.namedItem('token');
if (token !== '' && form !== null && field instanceof HTMLInputElement) {
  field.value = token;
  form.submit();
}

export {};
