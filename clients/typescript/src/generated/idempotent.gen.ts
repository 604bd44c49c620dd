// Written by ./scanlog client.

export const idempotentPaths: readonly string[] = ["/v1/qrcodes","/v1/qrcodes/bulk","/v1/qrcodes/{id}/duplicate"];
