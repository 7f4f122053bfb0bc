# Makes the Secret of the keys, unless it is there. Keys are made in memory and are never printed.
account=/var/run/secrets/kubernetes.io/serviceaccount
secrets=https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/api/v1/namespaces/$NAMESPACE/secrets
umask 077
printf 'header = "Authorization: Bearer %s"\ncacert = "%s"\nsilent\nshow-error\n' "$(cat $account/token)" $account/ca.crt > /scratch/curl
there=$(curl --config /scratch/curl --output /dev/null --write-out '%{http_code}' "$secrets/$SECRET")
case $there in
  200) echo "the Secret $SECRET is there"; exit 0 ;;
  404) ;;
  *) echo "asking for the Secret $SECRET: status $there"; exit 1 ;;
esac
slipstream keys new /scratch/keys > /dev/null
entries=
for role in router verifier drafter; do
  for file in /scratch/keys/$role.key /scratch/keys/peers/$role.pub; do
    entries="$entries${entries:+,}\"$(basename $file)\":\"$(base64 -w 0 $file)\""
  done
done
printf '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"%s"},"type":"Opaque","data":{%s}}' "$SECRET" "$entries" > /scratch/secret
curl --config /scratch/curl --fail --output /dev/null --header 'Content-Type: application/json' --data-binary @/scratch/secret "$secrets"
echo "made the Secret $SECRET"
