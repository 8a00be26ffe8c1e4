package main

// The coding of values by their static types, and the frames: the same file in both programs, the
// judge's and the one of the solution. A frame is a length of four bytes and then JSON.

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

const rollcageFrameMax = 64 << 20
const rollcageDepthMax = 1000

// A value that cannot cross: it decides a test.
type rollcageCannotCross struct{ why string }

var rollcageErrorType = reflect.TypeOf((*error)(nil)).Elem()

func rollcageFile(number int, name string) *os.File {
	syscall.CloseOnExec(number)
	return os.NewFile(uintptr(number), name)
}

func rollcageSend(file *os.File, message interface{}) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(body) > rollcageFrameMax {
		panic(rollcageCannotCross{"a value of more than 64 MiB cannot cross"})
	}
	frame := make([]byte, 4, 4+len(body))
	binary.LittleEndian.PutUint32(frame, uint32(len(body)))
	_, err = file.Write(append(frame, body...))
	return err
}

func rollcageReceive(file *os.File, into interface{}) error {
	var head [4]byte
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return errors.New("its process ended")
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size == 0 || size > rollcageFrameMax {
		return fmt.Errorf("it sent a frame of %d bytes", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(file, body); err != nil {
		return errors.New("its process ended")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return errors.New("it sent what is no frame")
	}
	return nil
}

// Encodes a value of a plain type. Anything else panics with the reason.
func rollcagePut(value reflect.Value, depth int) interface{} {
	if depth > rollcageDepthMax {
		panic(rollcageCannotCross{"value cannot cross: it is nested too deeply"})
	}
	if value.Type() == rollcageErrorType {
		if value.IsNil() {
			return nil
		}
		return []interface{}{"e", rollcagePutText(value.Interface().(error).Error())}
	}
	switch value.Kind() {
	case reflect.Bool:
		return value.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(value.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(value.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(value.Float(), 'g', -1, 64)
	case reflect.String:
		return rollcagePutText(value.String())
	case reflect.Slice, reflect.Array:
		if value.Kind() == reflect.Slice && value.IsNil() {
			return nil
		}
		items := make([]interface{}, value.Len())
		for at := range items {
			items[at] = rollcagePut(value.Index(at), depth+1)
		}
		return items
	case reflect.Map:
		if value.IsNil() {
			return nil
		}
		pairs := make([]interface{}, 0, value.Len())
		for walk := value.MapRange(); walk.Next(); {
			pairs = append(pairs, []interface{}{rollcagePut(walk.Key(), depth+1), rollcagePut(walk.Value(), depth+1)})
		}
		return pairs
	case reflect.Interface:
		if value.IsNil() {
			return nil
		}
		inner := value.Elem()
		name := rollcageTypeName(inner.Type())
		return []interface{}{name, rollcagePut(inner, depth+1)}
	}
	panic(rollcageCannotCross{"value cannot cross: it has type " + value.Type().String()})
}

func rollcagePutText(text string) interface{} {
	if utf8.ValidString(text) {
		return text
	}
	return []interface{}{base64.StdEncoding.EncodeToString([]byte(text))}
}

// Decodes what must be a value of this type; anything else panics.
func rollcageGet(tree interface{}, kind reflect.Type, depth int) reflect.Value {
	value := reflect.New(kind).Elem()
	if depth > rollcageDepthMax {
		panic("nested too deeply")
	}
	if tree == nil {
		switch kind.Kind() {
		case reflect.Slice, reflect.Map, reflect.Interface:
			return value
		}
		panic("nothing where a value must be")
	}
	switch kind.Kind() {
	case reflect.Bool:
		value.SetBool(tree.(bool))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		number, err := strconv.ParseInt(tree.(string), 10, kind.Bits())
		rollcageMust(err)
		value.SetInt(number)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		number, err := strconv.ParseUint(tree.(string), 10, kind.Bits())
		rollcageMust(err)
		value.SetUint(number)
	case reflect.Float32, reflect.Float64:
		number, err := strconv.ParseFloat(tree.(string), 64)
		rollcageMust(err)
		value.SetFloat(number)
	case reflect.String:
		value.SetString(rollcageGetText(tree))
	case reflect.Slice:
		items := tree.([]interface{})
		value.Set(reflect.MakeSlice(kind, len(items), len(items)))
		rollcageGetItems(items, value, depth)
	case reflect.Array:
		items := tree.([]interface{})
		if len(items) != kind.Len() {
			panic("an array of another length")
		}
		rollcageGetItems(items, value, depth)
	case reflect.Map:
		value.Set(reflect.MakeMap(kind))
		for _, item := range tree.([]interface{}) {
			pair := item.([]interface{})
			value.SetMapIndex(rollcageGet(pair[0], kind.Key(), depth+1), rollcageGet(pair[1], kind.Elem(), depth+1))
		}
	case reflect.Interface:
		pair := tree.([]interface{})
		if kind == rollcageErrorType {
			value.Set(reflect.ValueOf(errors.New(rollcageGetText(pair[1]))))
			break
		}
		value.Set(rollcageGet(pair[1], rollcageTypeOf(pair[0].(string), 0), depth+1))
	default:
		panic("a type that cannot cross")
	}
	return value
}

func rollcageGetItems(items []interface{}, value reflect.Value, depth int) {
	for at, item := range items {
		value.Index(at).Set(rollcageGet(item, value.Type().Elem(), depth+1))
	}
}

func rollcageGetText(tree interface{}) string {
	if text, is := tree.(string); is {
		return text
	}
	text, err := base64.StdEncoding.DecodeString(tree.([]interface{})[0].(string))
	rollcageMust(err)
	return string(text)
}

func rollcageMust(err error) {
	if err != nil {
		panic(err.Error())
	}
}

var rollcageBasics = map[string]reflect.Type{
	"bool": reflect.TypeOf(false), "string": reflect.TypeOf(""),
	"int": reflect.TypeOf(int(0)), "int8": reflect.TypeOf(int8(0)), "int16": reflect.TypeOf(int16(0)),
	"int32": reflect.TypeOf(int32(0)), "int64": reflect.TypeOf(int64(0)), "uint": reflect.TypeOf(uint(0)),
	"uint8": reflect.TypeOf(uint8(0)), "uint16": reflect.TypeOf(uint16(0)), "uint32": reflect.TypeOf(uint32(0)),
	"uint64": reflect.TypeOf(uint64(0)), "float32": reflect.TypeOf(float32(0)), "float64": reflect.TypeOf(float64(0)),
}

// The name of a plain type; what is defined by either side has none.
func rollcageTypeName(kind reflect.Type) string {
	name := kind.String()
	if rollcageTypeFor(name, 0) != kind {
		if kind.Implements(rollcageErrorType) {
			return "error"
		}
		panic(rollcageCannotCross{"value cannot cross: it has type " + name})
	}
	return name
}

func rollcageTypeOf(name string, depth int) reflect.Type {
	kind := rollcageTypeFor(name, depth)
	if kind == nil {
		panic("an unknown type")
	}
	return kind
}

func rollcageTypeFor(name string, depth int) reflect.Type {
	if kind, is := rollcageBasics[name]; is {
		return kind
	}
	if depth > 20 {
		return nil
	}
	if name == "interface {}" {
		return reflect.TypeOf((*interface{})(nil)).Elem()
	}
	if strings.HasPrefix(name, "[]") {
		if inner := rollcageTypeFor(name[2:], depth+1); inner != nil {
			return reflect.SliceOf(inner)
		}
		return nil
	}
	end := strings.IndexByte(name, ']')
	if strings.HasPrefix(name, "map[") && end > 0 {
		key, inner := rollcageTypeFor(name[4:end], depth+1), rollcageTypeFor(name[end+1:], depth+1)
		if key != nil && inner != nil && key.Comparable() {
			return reflect.MapOf(key, inner)
		}
		return nil
	}
	if strings.HasPrefix(name, "[") && end > 0 {
		length, err := strconv.Atoi(name[1:end])
		inner := rollcageTypeFor(name[end+1:], depth+1)
		if err == nil && inner != nil && length >= 0 && length <= 1<<20 {
			return reflect.ArrayOf(length, inner)
		}
	}
	return nil
}
