/** Connections to Postgres that redirects wait for. */
export const edgeConnection = 'scanlog-edge';
/** Connections of the API and the console. */
export const requestConnection = 'scanlog-requests';
/** Connections of commands. */
export const commandConnection = 'scanlog-cli';
/** All others of the service that have no name of their own. */
export const backgroundConnection = 'scanlog';
