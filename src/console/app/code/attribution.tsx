/** What the license of the places asks for, wherever they are shown. */
export const Attribution = () => (
  <p class="hint attribution">
    Places are approximate.{' '}
    <a href="https://db-ip.com" target="_blank" rel="noreferrer">
      IP Geolocation by DB-IP
    </a>
    , under{' '}
    <a href="https://creativecommons.org/licenses/by/4.0/" target="_blank" rel="noreferrer">
      CC BY 4.0
    </a>
    .
  </p>
);
