#!/bin/sh
# Writes the files of one host from the templates beside this script, with the addresses and passwords of cluster.env.
# Usage: render.sh CLUSTER_ENV FOLDER (db1|db2|db3|gateway)
set -eu
umask 077

[ $# = 3 ] || { echo "usage: $0 CLUSTER_ENV FOLDER (db1|db2|db3|gateway)" >&2; exit 2; }
here=$(dirname "$0")
folder=$2
name=$3
# shellcheck disable=SC1090
. "$1"
case $name in
    db1) address=$DB1 files="etcd patroni.yml pgbouncer.ini userlist.txt" ;;
    db2) address=$DB2 files="etcd patroni.yml pgbouncer.ini userlist.txt" ;;
    db3) address=$DB3 files="etcd patroni.yml pgbouncer.ini userlist.txt" ;;
    gateway) address=127.0.0.1 files="haproxy.cfg" ;;
    *) echo "the host is db1, db2, db3 or gateway, not $name" >&2; exit 2 ;;
esac

mkdir -p "$folder"
for file in $files; do
    sed -e "s|@NAME@|$name|g" -e "s|@ADDRESS@|$address|g" \
        -e "s|@DB1@|$DB1|g" -e "s|@DB2@|$DB2|g" -e "s|@DB3@|$DB3|g" -e "s|@NETWORK@|$NETWORK|g" \
        -e "s|@SUPERUSER_PASSWORD@|$SUPERUSER_PASSWORD|g" -e "s|@REPLICATION_PASSWORD@|$REPLICATION_PASSWORD|g" \
        -e "s|@GATEWAY_PASSWORD@|$GATEWAY_PASSWORD|g" -e "s|@PATRONI_PASSWORD@|$PATRONI_PASSWORD|g" \
        -e "s|@BINARIES@|$BINARIES|g" -e "s|@DATA@|$DATA|g" -e "s|@SOCKETS@|$SOCKETS|g" \
        -e "s|@ETCD_DATA@|$ETCD_DATA|g" \
        -e "s|@PGBOUNCER@|$PGBOUNCER|g" -e "s|@LOGS@|$LOGS|g" "$here/$file" > "$folder/$file"
done
