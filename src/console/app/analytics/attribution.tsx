/** The attribution that DB-IP's license requires wherever locations are shown. */
export const Attribution = () => (
  <p class="hint attribution">
    Locations are approximate.{' '}
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
