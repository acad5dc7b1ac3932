L=./target/release/lifestreams
echo "== devices"; $L devices | head -20
echo "== verify"; time $L verify 2>&1 | tail -5
echo "== stops of run"
for k in global shared bits planar multistep resident cooperative sync-global sync-shared; do for g in off on; do
  s=128x128; 
  $L run -g 1000000000000000 --device cuda --instances 16 --size $s --kernel $k --graphs $g --generations-per-round 4294967295 >$OUT/o 2>$OUT/e & p=$!
  sleep 2.5; a=$(date +%s%N); kill -INT $p; wait $p; c=$?; b=$(date +%s%N); echo "$k graphs $g: code $c, $(( (b-a)/1000000 )) ms; $(tail -1 $OUT/o | cut -c1-150) $(grep -v stopped $OUT/e | head -1)"
done; done
for g in 200000 4294967295; do
  $L run -g 1000000000000000 --device cuda --instances 1 --size 65536x65536 --generations-per-round $g >$OUT/o 2>$OUT/e & p=$!
  sleep 8; a=$(date +%s%N); kill -INT $p; wait $p; c=$?; b=$(date +%s%N); echo "65536 $g: code $c, $(( (b-a)/1000000 )) ms; $(tail -1 $OUT/o | cut -c1-150)"
done
echo "== stops of sessions"
for k in bits sync-global multistep; do
  rm -f s.json; $L --display none --device cuda --instances 16 --size 1024x1024 --kernel $k --generations-per-round 4294967295 --session s.json >$OUT/o 2>$OUT/e & p=$!
  sleep 4; a=$(date +%s%N); kill -INT $p; wait $p; c=$?; b=$(date +%s%N); echo "session $k: code $c, $(( (b-a)/1000000 )) ms; $(tail -1 $OUT/o | cut -c1-150) $(tail -1 $OUT/e)"
done
rm -f s.json
echo "== rates"
for i in 1 2 3; do
for w in "-g 20000 --instances 1 --size 65536x65536" "-g 300000 --instances 1 --size 16384x16384" "-g 4000000 --instances 16 --size 1024x1024" "-g 30000000 --instances 1056 --size 128x128" "-g 20000000 --instances 16 --size 128x128"; do
  $L run --device cuda $w 2>&1 | tail -1 | cut -c1-170; done; done
echo "== copies"
for i in 1 2 3; do for v in none 1; do
  if [ $v = none ]; then unset LIFESTREAMS_TEST_TIMEOUT_MS; else export LIFESTREAMS_TEST_TIMEOUT_MS=$v; fi
  timeout -s INT 9 $L run -g 100000000000 --device cuda --instances 16 --size 1024x1024 2>/dev/null | tail -1 | cut -c1-170
done; done; unset LIFESTREAMS_TEST_TIMEOUT_MS
